"""Resolve a simulated survey of 789 records and compare the result with the truth.

python examples/quickstart.py
"""

import kolchin as kp
from kolchin.simulation import simulate_paper

# A table as a user would have it: nine columns that describe people, some of them twice, with
# errors. ent_id is the truth, which the model never sees.
table = simulate_paper("italy", delta=0.02, seed=1)
truth = table["ent_id"]

records = kp.Records.from_table(table.drop("rec_id", "ent_id"))
model = kp.Model(records, prior=kp.NBD())
posterior = kp.sample(model, chains=4, draws=500, seed=1)

n_clusters = posterior.statistics["n_clusters"]
estimate = posterior.point_estimate()
score = kp.evaluate(estimate, truth)
diagnostics = posterior.diagnostics()
worst = diagnostics["rhat"].max()

print(records)
print()
print(f"entities: {n_clusters.mean():.1f} ± {n_clusters.std():.1f} (truth: {truth.n_unique()})")
print(f"point estimate: {estimate.max() + 1} entities")
print(f"links: precision {score.precision:.3f}, recall {score.recall:.3f}, F1 {score.f1:.3f}")
print(f"largest R-hat: {worst:.3f}")
print()
print("the least certain links:")
links = posterior.links(min_probability=0.01)
print(links.sort((links["probability"] - 0.5).abs()).head(5))

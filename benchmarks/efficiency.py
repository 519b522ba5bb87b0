"""Effective samples of K per CPU second, warm-up and all parameter updates included.

    python benchmarks/efficiency.py [--draws 1000] [--delta 0.05]

On simulated records of the paper's data sets (delta 0.05), four chains on one core. The peers'
numbers were measured once on a comparable machine and are quoted, not run.
"""

import argparse
import time

import kolchin as kp
from kolchin.posterior.convergence import measure_convergence
from kolchin.simulation import paper_dataset, simulate_paper

PRIORS = {
    "DP": kp.DirichletProcess,
    "PYP": kp.PitmanYor,
    "NBNB": kp.NBNB,
    "NBD": kp.NBD,
    "ESCNB": kp.ESCNB,
    "ESCD": kp.ESCD,
}
PEERS = {"italy": {"exchanger": 2.8, "microclustr": 0.14}, "nltcs5000": {"exchanger": 0.6}}


def measure(dataset, prior, draws, delta):
    table = simulate_paper(dataset, delta=delta, seed=1)
    fields = [kp.Categorical(field.name) for field in paper_dataset(dataset).fields]
    model = kp.Model(kp.Records.from_table(table, fields=fields), prior=prior())
    start = time.process_time()
    posterior = kp.sample(model, chains=4, draws=draws, seed=1, cores=1, progress=False)
    seconds = time.process_time() - start
    n_clusters = posterior.statistics["n_clusters"]
    rhat, ess, _ = measure_convergence(n_clusters)
    return n_clusters.mean(), n_clusters.std(), rhat, ess, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--delta", type=float, default=0.05)
    options = parser.parse_args()
    measure("italy", kp.NBD, 10, options.delta)  # compile
    print("| data | prior | K | sd | R-hat | ESS | CPU s | ESS / CPU s | of the best peer |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for dataset in ("italy", "nltcs5000"):
        best = max(PEERS[dataset].values())
        for name, prior in PRIORS.items():
            mean, sd, rhat, ess, seconds = measure(dataset, prior, options.draws, options.delta)
            print(
                f"| {dataset} | {name} | {mean:.1f} | {sd:.1f} | {rhat:.3f} | {ess:.0f} | "
                f"{seconds:.1f} | {ess / seconds:.0f} | {ess / seconds / best:.0f}x |",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""Contents of reports to test with: a sampled one, a large one, a tiny one, a hostile one."""

from functools import cache

import numpy as np
import polars as pl

import kolchin as kp
from kolchin.records.columns.column_texts import Texts
from kolchin.report import ReportContent
from kolchin.simulation import simulate_paper

QUANTILES = {"q05": 0.05, "q50": 0.5, "q95": 0.95}


def texts(columns) -> Texts:
    return Texts.of(pl.DataFrame(columns))


@cache
def sampled() -> ReportContent:
    """Return what a short run on the simulated survey finds."""
    table = simulate_paper("italy", delta=0.02, seed=1)
    columns = [name for name in table.columns if name not in ("rec_id", "ent_id")]
    records = kp.Records.from_table(table.select(columns))
    posterior = kp.sample(
        kp.Model(records, prior=kp.NBD()), chains=4, draws=300, seed=1, progress=False
    )
    labels = posterior.point_estimate()
    links = posterior.links(0.01).with_columns(
        same_entity=pl.Series(
            [
                labels[a] == labels[b]
                for a, b in posterior.links(0.01).select("record_a", "record_b").rows()
            ]
        )
    )
    delta = posterior.parameters["delta"].mean()
    links = links.with_columns(**{name: _bits(table, links, name, delta) for name in columns})
    draws = posterior.diagnostics()
    evaluation = posterior.evaluate(table["ent_id"])
    truth = table["ent_id"].to_numpy()
    return ReportContent(
        title="italy.csv",
        summary={
            "n_records": table.height,
            "n_entities": _summary(posterior.statistics["n_clusters"]),
            "sizes": {name: _summary(v) for name, v in posterior.statistics.items()},
            "parameters": {
                row["quantity"]: {key: row[key] for key in ("mean", "sd", "q05", "q95")}
                for row in draws.iter_rows(named=True)
                if row["quantity"].partition("[")[0] in posterior.parameters
            },
            "diagnostics": {
                "rhat": draws["rhat"].max(),
                "ess": draws["ess_bulk"].min(),
                "converged": posterior.converged(),
                "quantities": {
                    row["quantity"]: {"rhat": row["rhat"], "ess": row["ess_bulk"]}
                    for row in draws.iter_rows(named=True)
                },
            },
            "evaluation": evaluation,
            "seconds": {"reading": 0.21, "sampling": 75.3, "summarising": 1.4},
            "seed": 1,
            "settings": {"prior": {"name": "NBD", "alpha": 1}, "chains": 4, "draws": 300},
            "version": kp.__version__,
        },
        entities=pl.DataFrame(
            {
                "record": np.arange(table.height),
                "entity": labels,
                "entity_size": np.bincount(labels)[labels],
                "confidence": posterior.confidence(labels),
            }
        ),
        links=links,
        values=Texts.of(table),
        fields=_fields(table, columns),
        sizes=_sizes(posterior),
        traces={
            "n_clusters": posterior.statistics["n_clusters"],
            "log_joint": posterior.log_joint,
            "delta": posterior.parameters["delta"],
        },
        calibration=_calibration(links, truth),
        notes=("Column 'rec_id' looks like an identifier and was left out.",),
    )


def large(n_records: int = 100_000) -> ReportContent:
    """Return a made-up result for many records; nothing is sampled."""
    rng = np.random.default_rng(2)
    sizes = rng.choice([1, 2, 3, 4, 7], size=n_records, p=[0.8, 0.14, 0.04, 0.015, 0.005])
    entity = np.repeat(np.arange(sizes.size), sizes)[:n_records]
    size = np.bincount(entity)[entity]
    first = rng.integers(0, n_records - 1, size=n_records)
    names = ["name", "street", "city", "birth_date", "email"]
    kinds = ["Text", "Text", "Categorical", "Date", "Text"]
    n_entities = float(entity[-1] + 1)
    probability = rng.beta(0.4, 0.3, size=n_records)
    return ReportContent(
        title="customers_2024.parquet",
        summary={
            "n_records": n_records,
            "n_entities": {
                "mean": n_entities,
                "sd": 40.0,
                "q05": n_entities - 66,
                "q50": n_entities,
                "q95": n_entities + 66,
            },
            "parameters": {
                f"delta[{name}]": {"mean": d, "sd": d / 9, "q05": 0.8 * d, "q95": 1.2 * d}
                for name, d in zip(names, [0.12, 0.2, 0.04, 0.015, 0.6], strict=True)
            },
            "diagnostics": {"rhat": 1.004, "ess": 1210.0, "converged": True},
            "seconds": {"reading": 2.1, "sampling": 3921.0},
            "seed": 20240501,
            "settings": {"prior": "nbd", "chains": 4},
            "version": "0.1.0",
        },
        entities=pl.DataFrame(
            {
                "record": np.arange(n_records),
                "entity": entity,
                "entity_size": size,
                "confidence": np.where(
                    size > 1, rng.beta(6, 0.8, n_records), rng.beta(30, 0.2, n_records)
                ),
            }
        ),
        links=pl.DataFrame(
            {
                "record_a": first,
                "record_b": first + 1,
                "probability": probability,
                "same_entity": probability > 0.5,
                **{
                    name: rng.normal(mean, 3.0, n_records)
                    for name, mean in zip(names, [7.0, 4.5, 2.0, 9.0, -1.0], strict=True)
                },
            }
        ),
        values=texts(
            {
                "id": [f"C{k:06d}" for k in range(n_records)],
                "name": rng.choice(
                    ["Maria Gonzalez", "Maria Gonzales", "M. González", "Jo Lee"], n_records
                ),
                "street": rng.choice(
                    ["12 High Street", "12 High St", "The Old Mill, Station Road", None], n_records
                ),
                "city": rng.choice(["Leeds", "York", "Newcastle upon Tyne"], n_records),
                "birth_date": rng.choice(["1980-02-01", "1980-01-02", "1971-11-30"], n_records),
                "email": rng.choice(["m.gonzalez@example.org", "mg@example.org", None], n_records),
            }
        ),
        fields=pl.DataFrame(
            {
                "column": ["id", *names],
                "kind": ["identifier", *kinds],
                "used": [False] + [True] * 5,
                "why": ["one value a record", *[""] * 5],
                "distinct": [n_records, 41_120, 38_551, 903, 20_411, 61_000],
                "missing": [0.0, 0.001, 0.07, 0.02, 0.11, 0.34],
                "bits": [None, 14.1, 13.2, 7.6, 13.9, 12.4],
            }
        ),
        sizes=pl.DataFrame(
            {
                "size": np.arange(1, 8),
                "mean": [64_012.3, 11_201.8, 3_198.1, 1_203.0, 12.4, 3.1, 398.2],
                "q05": [63_800, 11_090, 3_130, 1_160, 6, 1, 380],
                "q95": [64_200, 11_320, 3_260, 1_240, 19, 6, 415],
            },
            strict=False,
        ),
        traces={
            "n_entities": n_entities + rng.normal(0, 40, (4, 5000)).round(),
            "delta[name]": rng.normal(0.12, 0.005, (4, 5000)),
        },
        prior_bits=-17.3,
    )


def tiny(**changes) -> ReportContent:
    """Return a result of three records without links, truth or convergence."""
    content = {
        "title": "three.csv",
        "summary": {
            "n_records": 3,
            "n_entities": {"mean": 3.0, "sd": 0.0, "q05": 3.0, "q50": 3.0, "q95": 3.0},
            "parameters": {},
            "diagnostics": {"rhat": None, "ess": None, "converged": False},
            "seed": 7,
            "settings": {},
            "version": "0.1.0",
        },
        "entities": pl.DataFrame(
            {
                "record": ["a", "b", "c"],
                "entity": [0, 1, 2],
                "entity_size": [1, 1, 1],
                "confidence": [1.0] * 3,
            }
        ),
        "links": pl.DataFrame(
            schema={
                "record_a": pl.String,
                "record_b": pl.String,
                "probability": pl.Float64,
                "same_entity": pl.Boolean,
                "name": pl.Float64,
            }
        ),
        "values": texts({"id": ["a", "b", "c"], "name": ["Ann", "Bob", None]}),
        "fields": pl.DataFrame(
            {
                "column": ["id", "name"],
                "kind": ["identifier", "Categorical"],
                "used": [False, True],
                "why": ["one value a record", ""],
                "distinct": [3, 2],
                "missing": [0.0, 1 / 3],
                "bits": [None, 1.0],
            }
        ),
        "sizes": pl.DataFrame({"size": [1], "mean": [3.0], "q05": [3.0], "q95": [3.0]}),
        "traces": {"n_entities": np.full((2, 3), 3.0)},
    }
    return ReportContent(**(content | changes))


HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'&{{7*7}}\u2028"
)


def hostile() -> ReportContent:
    """Return a result in which every text that a user can give tries to break out."""
    other = HOSTILE + "\x00\u202e"
    summary = dict(tiny().summary) | {
        "parameters": {
            f"delta[{HOSTILE}]": {"mean": 0.1, "sd": 0.1, "q05": 0.05, "q95": 0.2},
            f"m[{HOSTILE}: exact]": {"mean": 0.1, "sd": 0.1, "q05": 0.05, "q95": 0.2},
        },
        "candidates": {"n_pairs": 2, "keys": [{"key": HOSTILE, "pairs": 1}] * 2},
        "dependence": {
            "shared": [{"fields": [HOSTILE, other], "pairs": 3}],
            "replaced": [{"fields": [other, HOSTILE], "share": 0.1}],
        },
        "diagnostics": {
            "rhat": 1.2,
            "ess": 12.0,
            "converged": False,
            "quantities": {HOSTILE: {"rhat": 1.2, "ess": 12.0}},
        },
        "settings": {HOSTILE: HOSTILE, "nested": {HOSTILE: [HOSTILE]}},
        "seconds": {HOSTILE: 1.0},
        "version": HOSTILE,
    }
    links = {
        "record_a": ["a"],
        "record_b": [HOSTILE],
        "probability": [0.55],
        "same_entity": [True],
        HOSTILE: [3.0],
        "plain": [-2.0],
        "constructor": [1.0],
        "__proto__": [-1.0],
    }
    return tiny(
        title=HOSTILE,
        summary=summary,
        entities=tiny().entities.with_columns(
            record=pl.Series(["a", HOSTILE, "c"]),
            entity=pl.Series([0, 0, 1]),
            entity_size=pl.Series([2, 2, 1]),
        ),
        links=pl.DataFrame(links),
        values=texts(
            {
                HOSTILE: [HOSTILE, other, "x"],
                "plain": ["1", "2", None],
                "unused" + HOSTILE: [HOSTILE] * 3,
                "constructor": ["toString", "valueOf", None],
                "__proto__": ["__proto__", "constructor", "x"],
            }
        ),
        fields=pl.DataFrame(
            {
                "column": [HOSTILE, "plain"],
                "kind": [HOSTILE, "Text"],
                "used": [True, False],
                "why": [HOSTILE, HOSTILE],
                "distinct": [2, 2],
                "missing": [0.0, 0.5],
                "bits": [1.0, float("nan")],
            }
        ),
        traces={HOSTILE: np.array([[1.0, np.nan, 3.0], [2.0, np.inf, 1.0]])},
        notes=(HOSTILE,),
    )


def _bits(table: pl.DataFrame, links: pl.DataFrame, name: str, delta: float) -> pl.Series:
    """Return log2 of (1[equal] / frequency + delta) / (1 + delta) for each pair."""
    a, b = (table[name][links[end]] for end in ("record_a", "record_b"))
    share = table[name].value_counts(normalize=True)
    frequency = a.replace_strict(share[name], share["proportion"], return_dtype=pl.Float64)
    ratio = ((a == b).cast(pl.Float64) / frequency + delta) / (1 + delta)
    return ratio.log(2.0)


def _summary(values: np.ndarray) -> dict[str, float]:
    quantiles = {key: float(np.quantile(values, q)) for key, q in QUANTILES.items()}
    return {"mean": float(values.mean()), "sd": float(values.std()), **quantiles}


def _fields(table: pl.DataFrame, used: list[str]) -> pl.DataFrame:
    rows = []
    for name in table.columns:
        share = table[name].value_counts(normalize=True)["proportion"]
        kind = "Categorical" if name in used else "identifier"
        why = "" if name in used else "one value a record"
        rows.append((name, kind, name in used, why, len(share), 0.0, -np.log2((share**2).sum())))
    names = ["column", "kind", "used", "why", "distinct", "missing", "bits"]
    return pl.DataFrame(rows, schema=names, orient="row")


def _sizes(posterior: kp.Posterior) -> pl.DataFrame:
    counts = np.array([np.bincount(np.bincount(labels), minlength=9)[:9] for labels in posterior])
    low, high = np.quantile(counts, [0.05, 0.95], axis=0)
    return pl.DataFrame(
        {"size": np.arange(9), "mean": counts.mean(axis=0), "q05": low, "q95": high}
    ).filter(pl.col("size") > 0, pl.col("mean") > 0)


def _calibration(links: pl.DataFrame, truth: np.ndarray) -> pl.DataFrame:
    true = truth[links["record_a"].to_numpy()] == truth[links["record_b"].to_numpy()]
    table = links.select(
        "probability", true=pl.Series(true), bin=(pl.col("probability") * 9.999).floor()
    )
    return (
        table.group_by("bin")
        .agg(n_pairs=pl.len(), mean_probability=pl.mean("probability"), share_true=pl.mean("true"))
        .with_columns(
            error=1.64
            * (pl.col("share_true") * (1 - pl.col("share_true")) / pl.col("n_pairs")).sqrt()
        )
        .with_columns(
            low=(pl.col("share_true") - pl.col("error")).clip(0, 1),
            high=(pl.col("share_true") + pl.col("error")).clip(0, 1),
        )
        .sort("bin")
    )

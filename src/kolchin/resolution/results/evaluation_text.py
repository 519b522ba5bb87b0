"""A comparison with the truth, for reading."""

from typing import Any

RATES = {
    "pairs": ("precision", "recall", "f1", "fdr", "fnr"),
    "records (B-cubed)": ("bcubed_precision", "bcubed_recall", "bcubed_f1"),
    "whole entities": ("cluster_precision", "cluster_recall", "cluster_f1"),
}


def write_evaluation(measures: dict[str, Any]) -> str:
    """Write the rates of the point estimate and of the posterior, and the calibration."""
    point, drawn = measures["point_estimate"], measures["posterior"]
    lines = [
        f"{point['n_records']:,} records with known entities"
        + (f"; {point['n_unknown']:,} without are left out" if point["n_unknown"] else "")
        + f". {point['n_true_clusters']:,} entities are true, {point['n_clusters']:,} shown.",
        *_write_candidates(measures),
        "",
        f"{'':30}  {'shown':>7}  {'mean':>7}  {'90% interval':>16}",
    ]
    for kind, names in RATES.items():
        lines.append(kind)
        for name in names:
            own = drawn[name]
            label = name.removeprefix("bcubed_").removeprefix("cluster_")
            interval = f"{own['q05']:.4f} to {own['q95']:.4f}"
            lines.append(f"  {label:28}  {point[name]:7.4f}  {own['mean']:7.4f}  {interval:>16}")
    lines += ["", "Links against truth:", _write_calibration(measures["calibration"])]
    return "\n".join(lines)


def _write_candidates(measures: dict[str, Any]) -> list[str]:
    """Say how many of the true pairs were compared, where pairs are compared."""
    n_true = measures["point_estimate"]["true_pairs"]
    if "candidates" not in measures or not n_true:
        return []
    compared = measures["candidates"]["true_pairs"]
    return [
        f"Of {n_true:,} pairs of one true entity {compared:,} were compared: the recall of "
        f"candidates is {compared / n_true:.4f}."
    ]


def _write_calibration(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'probability':>12}  {'pairs':>9}  {'said':>6}  {'true':>6}  {'90% interval':>16}"]
    lines += [
        f"{row['bin']:>12}  {row['n_pairs']:>9,}  {row['mean_probability']:6.3f}  "
        f"{row['share_true']:6.3f}  {row['low']:7.3f} to {row['high']:5.3f}"
        for row in rows
        if row["n_pairs"]
    ]
    return "\n".join(lines)

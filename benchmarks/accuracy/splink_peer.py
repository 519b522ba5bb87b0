"""Score the pairs of a table with Splink 5, in an environment of its own.

    python splink_peer.py TABLE.csv DESCRIPTION.json SCORES.parquet

The table has a column `unique_id`; the description says how to prepare, compare and block its
columns (see `columns.py`). Scores have a row a pair: `a`, `b`, `weight` (bits), `probability`.
The last line printed is JSON: the version, the seconds, and what was not trained.
"""

import importlib.metadata
import json
import logging
import sys
import time
from pathlib import Path

import duckdb
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

LEAST_WEIGHT = -10
"""Pairs below are of no use at any threshold, and many."""

NAME_LEVELS = [0.92, 0.88, 0.7]
TEXT_LEVELS = [0.92, 0.85, 0.7]


def comparison(kind, columns, form, with_frequencies):
    """Return Splink's comparison for a kind of column, with or without term frequencies."""
    column = columns[0]
    if kind == "names":
        # The library's comparison of a whole name: exchanged parts, then each part alone.
        return cl.ForenameSurnameComparison(
            *columns[:2], forename_surname_concat_col_name=columns[2]
        )
    if kind == "name" and with_frequencies:
        return cl.NameComparison(column, jaro_winkler_thresholds=NAME_LEVELS)
    if kind == "email":
        return cl.EmailComparison(column)
    made = {
        "name": lambda: cl.JaroWinklerAtThresholds(column, NAME_LEVELS),
        "text": lambda: cl.JaroWinklerAtThresholds(column, TEXT_LEVELS),
        "code": lambda: cl.DamerauLevenshteinAtThresholds(column, [1, 2]),
        "exact": lambda: cl.ExactMatch(column),
        "date": lambda: cl.DateOfBirthComparison(
            column, input_is_string=True, datetime_format=form, invalid_dates_as_null=False
        ),
    }[kind]()
    return made.configure(term_frequency_adjustments=with_frequencies)


def rules(listed):
    """Return blocking rules: SQL as it is, or columns that must agree."""
    return [rule if isinstance(rule, str) else block_on(*rule) for rule in listed]


def settings(description):
    """Translate a description into Splink's settings."""
    return SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            comparison(each["kind"], each["columns"], each.get("form"), description["frequencies"])
            for each in description["comparisons"]
        ],
        blocking_rules_to_generate_predictions=rules(description["block"]),
        retain_matching_columns=False,
    )


def train(linker, description, seed):
    """Estimate the prior from sure rules, u from random pairs, and m by EM on each rule."""
    linker.training.estimate_probability_two_random_records_match(
        rules(description["sure"]), recall=description["recall"]
    )
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=seed)
    for rule in rules(description["train"]):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)


def untrained(linker):
    """Name the comparisons of which no level has an m probability."""
    described = linker.misc.save_model_to_json()["comparisons"]
    return [
        each["output_column_name"]
        for each in described
        if not any("m_probability" in level for level in each["comparison_levels"])
    ]


def main():
    table, description_file, scores = sys.argv[1:4]
    logging.getLogger("splink").setLevel(logging.ERROR)
    description = json.loads(Path(description_file).read_text(encoding="utf-8"))
    began = time.monotonic()
    connection = duckdb.connect()
    prepared = "".join(f", {sql} as {name}" for name, sql in description["prepare"].items())
    connection.execute(
        f"create table records as select * replace (cast(unique_id as integer) as unique_id)"
        f"{prepared} from read_csv(?, all_varchar=true, header=true)",
        [table],
    )
    api = DuckDBAPI(connection)
    linker = Linker(api.register("records", table_name="people"), settings(description))
    train(linker, description, description["seed"])
    pairs = linker.inference.predict(threshold_match_weight=LEAST_WEIGHT)
    connection.execute(
        f"copy (select unique_id_l as a, unique_id_r as b, match_weight as weight, "
        f"match_probability as probability from {pairs.physical_name}) "
        f"to '{scores}' (format parquet)"
    )
    seconds = time.monotonic() - began
    about = {"version": importlib.metadata.version("splink"), "seconds": seconds}
    print(json.dumps({**about, "untrained": untrained(linker)}))


if __name__ == "__main__":
    main()

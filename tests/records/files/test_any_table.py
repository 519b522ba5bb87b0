"""Every kind of table is read, and equal content gives equal records."""

import datetime
import subprocess
import sys
import textwrap
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kolchin.records import DataWarning, Records

CONTENT = {
    "name": ["Ada", None, "Zoë", "Ada", "zoë", "Émile"],
    "code": ["007", "7", "7", "010", "7", ""],
    "number": [10, 9, 9, None, -3, 10],
    "amount": [1.5, None, 2.25, 1.5, -0.5, 1e-7],
    "flag": [True, False, None, True, False, True],
    "born": [datetime.date(1970 + 10 * i, 1, 2) if i else None for i in (0, 1, 2, 1, 3, 0)],
}
# The order of each vocabulary, worked out by hand.
VOCABULARIES = (
    ("Ada", "Zoë", "zoë", "Émile"),
    ("007", "7", "010"),
    (-3, 9, 10),
    (-0.5, 1e-7, 1.5, 2.25),
    (False, True),
    tuple(datetime.date(year, 1, 2) for year in (1980, 1990, 2000)),
)
CODES = np.array(
    [
        [0, 0, 2, 2, 1, -1],
        [-1, 1, 1, -1, 0, 0],
        [1, 1, 1, 3, -1, 1],
        [0, 2, -1, 2, 1, 0],
        [2, 1, 0, 0, 0, 2],
        [3, -1, 2, 1, 1, -1],
    ]
)


def as_polars() -> pl.DataFrame:
    return pl.DataFrame(CONTENT)


def as_parquet(folder):
    as_polars().write_parquet(folder / "people.parquet")
    return folder / "people.parquet"


def as_parts(folder):
    """Write the rows to several files, as Spark does, among others that are none of them."""
    path = folder / "people.parquet"
    (path / "part-9.parquet").mkdir(parents=True)
    (path / "_SUCCESS").touch()
    as_polars()[:2].write_parquet(path / "part-0[a].parquet")
    as_polars()[2:5].select(reversed(CONTENT)).write_parquet(path / "part-1.PQ")
    as_polars()[5:].write_parquet(path / "part-2.snappy.parquet")
    for other in ("_metadata.parquet", ".part-0.parquet", "part-0.parquet.crc"):
        (path / other).write_bytes(b"something else")
    return path


def as_duckdb_file(folder):
    path = as_parquet(folder)
    return duckdb.sql(f"select * from '{path}'")


MAKERS = {
    "dictionary": lambda folder: CONTENT,
    "dictionary of arrays": lambda folder: {
        name: np.array(values, dtype=object) for name, values in CONTENT.items()
    },
    "polars": lambda folder: as_polars(),
    "polars lazy": lambda folder: as_polars().lazy(),
    "polars categories": lambda folder: as_polars().with_columns(
        pl.col("name").cast(pl.Categorical), pl.col("code").cast(pl.Enum(["7", "010", "007", ""]))
    ),
    "polars narrow types": lambda folder: as_polars().with_columns(
        pl.col("number").cast(pl.Int8), pl.col("born").cast(pl.Datetime("ms"))
    ),
    "pandas": lambda folder: pd.DataFrame(CONTENT),
    "pandas categories": lambda folder: pd.DataFrame(CONTENT).astype("category"),
    "pandas extension types": lambda folder: pd.DataFrame(CONTENT).convert_dtypes(),
    "pandas of arrow": lambda folder: as_polars().to_pandas(use_pyarrow_extension_array=True),
    "pandas datetimes": lambda folder: pd.DataFrame(CONTENT).assign(
        born=pd.to_datetime(pd.Series(CONTENT["born"]))
    ),
    "pyarrow": lambda folder: pa.table(CONTENT),
    "pyarrow batch": lambda folder: pa.table(CONTENT).to_batches()[0],
    "duckdb": as_duckdb_file,
    "parquet": as_parquet,
    "parquet name": lambda folder: str(as_parquet(folder)),
    "parquet folder": as_parts,
    "parquet folder's name": lambda folder: f"{as_parts(folder)}/",
}


@pytest.mark.parametrize("kind", MAKERS)
def test_table_kinds_agree(kind, tmp_path):
    records = Records.from_table(MAKERS[kind](tmp_path))
    assert records.names == tuple(CONTENT)
    assert records.vocabularies == VOCABULARIES
    assert [type(v[0]) for v in records.vocabularies] == [type(v[0]) for v in VOCABULARIES]
    assert_array_equal(records.codes, CODES)


@pytest.mark.parametrize(
    ("name", "separator"),
    [
        ("people.csv", ","),
        ("people.csv", ";"),
        ("people.csv", "|"),
        ("people.tsv", "\t"),
        ("people.csv.gz", ","),
        ("PEOPLE.CSV", ","),
    ],
)
def test_delimited_text_has_the_codes_of_typed_tables(name, separator, tmp_path):
    path = tmp_path / name
    pd.DataFrame(CONTENT).to_csv(path, index=False, sep=separator)
    records = Records.from_table(path, fields=[n for n in CONTENT if n != "number"])
    columns = [i for i, n in enumerate(CONTENT) if n != "number"]
    assert_array_equal(records.codes, CODES[:, columns])
    assert records.vocabularies[1] == ("007", "7", "010")


def test_text_of_whole_numbers_is_ordered_as_numbers(tmp_path):
    path = tmp_path / "years.csv"
    path.write_text("n\n10\n9\n9\n\n-3\n10\n")
    from_text = Records.from_table(path)
    assert from_text.vocabularies == (("-3", "9", "10"),)
    # A blank line of a one-column file is a record with a missing value.
    assert_array_equal(from_text.codes[:, 0], CODES[:, 2])


def test_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("\ufeffsex,year\nf,1\nm,2\nf,2\n", encoding="utf-8")
    assert Records.from_table(path).names == ("sex", "year")


def test_quoted_empty_text_is_missing(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('sex,year\n"",1\n,2\nf,2\nm,1\nm,1\n')
    assert_array_equal(Records.from_table(path).codes[:, 0], [-1, -1, 0, 1, 1])


@pytest.mark.parametrize("name", ["*", "^a.*$", "", "a b", "naïve"])
def test_any_column_name_is_taken_as_it_is(name, tmp_path):
    content = {name: ["x", "y", "x"], "abc": ["u", "u", "v"]}
    path = tmp_path / "people.csv"
    pl.DataFrame(content).write_csv(path)
    tables = [content, pl.DataFrame(content), pd.DataFrame(content), pa.table(content), path]
    for table in tables:
        records = Records.from_table(table, fields=[name])
        assert records.names == (name,)
        assert records.decode()[name].to_list() == content[name]


def test_numbered_columns_of_pandas_are_named_by_their_digits():
    records = Records.from_table(pd.DataFrame([["a", 1], ["b", 2], ["a", 1]]))
    assert records.names == ("0", "1")


def test_fields_choose_and_order_columns():
    table = {"a": [1, 1, 2], "b": [[1], [2], [3]], "c": ["x", "y", "y"]}
    assert Records.from_table(pl.DataFrame(table), fields=["c", "a"]).names == ("c", "a")


def test_repeated_columns_that_are_not_asked_for_do_no_harm():
    columns = [[1, 2], [3, 4], [5, 6]]
    frames = [
        pd.DataFrame(np.transpose(columns), columns=["a", "a", "b"]),
        pa.table([pa.array(column) for column in columns], names=["a", "a", "b"]),
        duckdb.sql("select * from (values (1, 3, 5), (2, 4, 6)) t(a, a, b)"),
    ]
    for frame in frames:
        assert Records.from_table(frame, fields="b").vocabularies == ((5, 6),)


def test_other_types_of_values():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    noon = datetime.datetime(2020, 5, 1, 12)
    table = {
        "time": [noon, noon, noon.replace(hour=0)],
        "zoned": [noon.replace(tzinfo=zone), None, noon.replace(tzinfo=datetime.UTC, hour=10)],
        "clock": [datetime.time(1), datetime.time(2), datetime.time(1)],
        "bytes": [b"a", b"b", b"a"],
        "span": [datetime.timedelta(1), datetime.timedelta(2), None],
        "masked": np.ma.array([1, 2, 3], mask=[False, False, True]),
        "days": np.array(["2020-01-02", "2020-01-01", "NaT"], dtype="datetime64[D]"),
        "letters": np.array(["b", "a", "b"]),
        "arrow": pa.array([2, 1, 2]),
        "series": pl.Series([2, 1, 2]),
    }
    records = Records.from_table(table, fields=list(table))
    expected = [[1, 1, 0], [0, -1, 0], [0, 1, 0], [0, 1, 0], [0, 1, -1], [0, 1, -1]]
    assert_array_equal(records.codes.T, [*expected, [1, 0, -1], *[[1, 0, 1]] * 3])
    assert records.vocabularies[6] == (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2))


def test_objects_of_one_class_become_their_text():
    records = Records.from_table({"place": [complex(1, 2), complex(1, 2), None, complex(3, 4)]})
    assert records.vocabularies == (("(1+2j)", "(3+4j)"),)


def test_mixed_types_become_text_with_a_warning():
    table = {"house": [12, "12a", 12.0, "12", float("nan")]}
    for source in (table, pd.DataFrame(table)):
        with pytest.warns(DataWarning, match=r"'house' mixes values of several types \(.*str\)"):
            records = Records.from_table(source)
        assert records.decode()["house"].to_list() == ["12", "12a", "12", "12", None]


def test_integers_beyond_a_float_stay_apart():
    big = 2**53
    records = Records.from_table({"id": [big, big + 1, big, None]})
    assert records.vocabularies == ((big, big + 1),)
    assert Records.from_table({"x": [1e300, 2.0, 2.0]}).vocabularies == ((2.0, 1e300),)


def test_numbers_of_several_types_keep_their_values():
    table = {"x": [np.int64(1), 1.5, True, Decimal("2.5"), np.float32(0.25), None]}
    assert Records.from_table(table).decode()["x"].to_list() == [1, 1.5, 1, 2.5, 0.25, None]


def test_numbers_too_long_for_any_type_become_text():
    table = {"x": [10**60, 10**60, 1]}
    assert Records.from_table(table).vocabularies == (("1", str(10**60)),)


values = st.one_of(
    st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=2),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=2),
    st.lists(st.one_of(st.none(), st.floats(allow_nan=True)), min_size=2),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=2),
    st.lists(st.one_of(st.none(), st.dates()), min_size=2),
)


@given(values.filter(lambda v: any(x not in (None, "") and x == x for x in v)))
def test_decoding_gives_the_table_back(column):
    expected = [None if x in (None, "") or x != x else x for x in column]
    for table in ({"x": column}, pd.DataFrame({"x": pd.Series(column, dtype=object)})):
        records = Records.from_table(table, fields="x")
        assert records.decode()["x"].to_list() == expected
        (vocabulary,) = records.vocabularies
        assert len(set(vocabulary)) == len(vocabulary) == len(set(expected) - {None})
        assert records.frequencies[0].sum() == pytest.approx(1)


@given(st.lists(st.sampled_from(["1", "02", "2", "10", "x", None]), min_size=2), st.randoms())
def test_vocabularies_do_not_depend_on_the_order_of_rows(column, random):
    if not any(column):
        column = [*column, "1"]
    order = list(range(len(column)))
    random.shuffle(order)
    records = Records.from_table({"x": column}, fields="x")
    shuffled = Records.from_table({"x": [column[i] for i in order]}, fields="x")
    assert shuffled.vocabularies == records.vocabularies
    assert_array_equal(shuffled.codes, records.codes[order])


@pytest.mark.parametrize("missing", ["pyarrow", "pandas", "duckdb"])
def test_optional_packages_may_be_missing(missing):
    """Each kind of table is read without the packages of the other kinds."""
    program = f"""
        import sys
        sys.modules[{missing!r}] = None
        from kolchin.records import Records
        content = {{"a": ["x", "y", "x"], "b": [1, None, 1], "c": [True, False, False]}}
        tables = [content]
        if {missing!r} != "pandas":
            import pandas
            frame = pandas.DataFrame(content)
            tables += [frame, frame.astype({{"a": "category", "b": "Int64"}})]
        if {missing!r} != "duckdb":
            import duckdb, polars
            source = polars.DataFrame(content).rows()
            rows = ", ".join("({{!r}}, {{}}, {{}})".format(*(v or "null" for v in row[:2]), row[2])
                             for row in source)
            tables.append(duckdb.sql(f"select * from (values {{rows}}) t(a, b, c)"))
        for table in tables:
            assert Records.from_table(table, fields=["a", "b", "c"]).codes.tolist() == [
                [0, 0, 1], [1, -1, 0], [0, 0, 0]], table
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)

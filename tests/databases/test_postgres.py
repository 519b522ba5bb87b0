import datetime

import adbc_driver_postgresql.dbapi as driver
import polars as pl
import pytest

import kolchin as kp
from kolchin.databases import make_title, read_database
from kolchin.databases.addresses import describe_place, hide_secrets, read_path
from kolchin.errors import DataError

SECRETS = ("s3cret", "pa/ss", "pa%2Fss", "%3Apa")
NAME = 'pe"ople of 2024'


@pytest.fixture
def crm(server):
    with driver.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TYPE mood AS ENUM ('glad', 'sad')")
        cursor.execute(
            'CREATE TABLE "pe""ople of 2024" (id bigint, name text, born date, seen timestamp, '
            "paid numeric(10, 2), big numeric, member boolean, feels mood, key uuid, about jsonb, "
            "stay interval, price money)"
        )
        cursor.execute(
            "INSERT INTO \"pe\"\"ople of 2024\" VALUES (1, 'ann', '1990-01-02', "
            "'2024-01-01 10:00', 1.50, 123456789012345678901, true, 'glad', "
            "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{\"a\": 1}', '1 day', 12.5), "
            "(2, null, null, null, null, null, null, null, null, null, null, null)"
        )
        cursor.execute("CREATE SCHEMA other")
        cursor.execute("CREATE TABLE other.things (a integer)")
        connection.commit()
    return server


def test_types_are_those_that_people_expect(crm):
    frame = read_database(crm, NAME, None)
    assert dict(frame.schema) == {
        "id": pl.Int64,
        "name": pl.String,
        "born": pl.Date,
        "seen": pl.Datetime("us"),
        "paid": pl.Float64,
        "big": pl.String,  # of more digits than a number has
        "member": pl.Boolean,
        **dict.fromkeys(["feels", "key", "about", "stay"], pl.String),
        "price": pl.Float64,
    }
    row = frame.row(0, named=True)
    assert (row["born"], row["paid"], row["price"]) == (datetime.date(1990, 1, 2), 1.5, 12.5)
    assert (row["feels"], row["key"][:8]) == ("glad", "a0eebc99")
    assert frame.row(1) == (2, *[None] * 11)


def test_query_schema_and_connection(crm):
    query = 'SELECT id, paid FROM "pe""ople of 2024" ORDER BY id;'
    assert read_database(crm, None, query).to_dict(as_series=False) == {
        "id": [1, 2],
        "paid": [1.5, None],
    }
    assert read_database(crm, "other.things", None).shape == (0, 1)
    with driver.connect(crm) as connection:
        assert read_database(connection, f"public.{NAME}", None).height == 2


@pytest.mark.parametrize(
    ("table", "query", "words"),
    [
        (None, None, "2 tables: "),
        ("pe'ople of 2024", None, "Did you mean"),
        (None, "SELEC 1", "syntax error"),
        (None, "DROP TABLE other.things", "read-only transaction"),
        (None, "SELECT 1 AS a, 2 AS a", "'a'. Rename"),
    ],
)
def test_faults_say_what_to_do(crm, table, query, words):
    with pytest.raises(DataError) as error:
        read_database(crm, table, query)
    assert words in str(error.value)


def refused(address, action):
    with pytest.raises(DataError) as error:
        action(address)
    words = str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__
    return words


def test_a_wrong_password_is_not_repeated(postgres):
    address = f"postgresql://ann:wrong%2Fword@{postgres}/postgres"
    words = refused(address, lambda where: kp.resolve(where, table="people"))
    assert "password authentication failed" in words
    assert "wrong" not in words
    for odd in ("ann:wr/ong", "ann:wr#ong", "ann:wr%ong", "ann:wr@ong", "ann:[wrong"):
        words = refused(f"postgresql://{odd}@{postgres}/postgres", lambda w: kp.resolve(w))
        assert "ong" not in words
        assert "wr" not in words.replace("wrong size", "")


def test_a_read_only_user_can_read_and_is_told(crm, postgres, tmp_path):
    with driver.connect(crm) as connection, connection.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS reader")
        cursor.execute("CREATE ROLE reader LOGIN PASSWORD 'reads'")
        cursor.execute("GRANT USAGE ON SCHEMA public TO reader")
        cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        connection.commit()
    address = f"postgresql://reader:reads@{postgres}/postgres"
    assert read_database(address, NAME, None).height == 2
    result = kp.resolve({"a": ["x", "x", "y", "z"]}, chains=2, draws=20, seed=1, progress=True)
    words = refused(address, result.write)
    assert "cannot be written to" in words
    assert "permission denied" in words
    assert "reads" not in words


def test_a_server_that_is_not_there_is_said():
    words = refused("postgresql://ann:secret@127.0.0.1:1/crm", lambda w: kp.resolve(w))
    assert words.startswith("postgresql://127.0.0.1:1/crm cannot be opened")
    assert "secret" not in words


def test_no_file_has_the_password(crm, tmp_path):
    rows = "SELECT 'r' || k AS id, 'ann' || k % 4 AS name, 1990 + k % 4 AS year FROM "
    query = f"{rows} generate_series(1, 12) AS k"
    how = {"chains": 2, "draws": 20, "seed": 1, "progress": True, "id": "id"}
    result = kp.resolve(crm, query=query, out=tmp_path / "run", **how)
    result.write(crm)
    kp.Result.load(tmp_path / "run").write(crm)
    assert result.summary()["settings"]["input"] == "postgres"
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        content = path.read_bytes()
        assert not [word for word in SECRETS if word.encode() in content]
    runs = read_database(crm, "kolchin_runs", None)
    assert not [word for word in SECRETS if word in str(runs.rows())]


def test_what_an_address_may_tell():
    address = "postgresql://ann:sec/r@et@host:5432/crm?password=other&sslmode=require"
    assert describe_place(address) == "postgresql://host:5432/crm"
    assert str(read_path(address)) == "crm"
    assert make_title(address, "people") == "crm: people"
    assert hide_secrets("sec and r@et, other", address) == "*** and ***@***, ***"

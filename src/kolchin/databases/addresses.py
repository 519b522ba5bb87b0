"""Addresses of databases: what they name, and what of them may be told."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

SQLITE, DUCKDB = "sqlite:///", "duckdb:///"
POSTGRES = ("postgresql://", "postgres://")
SQLITE_MAGIC, DUCKDB_MAGIC = b"SQLite format 3\x00", b"DUCK"
SECRETS = ("password", "sslpassword", "passfile")


def is_postgres(source: object) -> bool:
    """Tell the address of a Postgres database."""
    return isinstance(source, str) and source.startswith(POSTGRES)


def is_sqlite(source: object) -> bool:
    """Tell the address or the file of an SQLite database."""
    return _is_file_of(source, SQLITE, SQLITE_MAGIC, 0)


def is_duckdb(source: object) -> bool:
    """Tell the address or the file of a DuckDB database."""
    return _is_file_of(source, DUCKDB, DUCKDB_MAGIC, 8)


def _is_file_of(source: object, scheme: str, magic: bytes, place: int) -> bool:
    if not isinstance(source, str | Path):
        return False
    if str(source).startswith(scheme):
        return True
    try:
        with Path(source).open("rb") as file:
            return file.read(place + len(magic))[place:] == magic
    except (OSError, ValueError):
        return False


def read_path(source: str | Path) -> Path:
    """Return the file that an address or a path names; of a server, the name of the database.

    >>> read_path("sqlite:///crm.db").as_posix()
    'crm.db'
    >>> read_path("postgresql://ann:secret@host/crm").as_posix()
    'crm'
    """
    text = str(source)
    for scheme in (SQLITE, DUCKDB):
        if text.startswith(scheme):
            return Path(unquote(text.removeprefix(scheme)))
    return Path(read_database_name(text)) if is_postgres(text) else Path(text)


def read_database_name(address: str) -> str:
    """Return the name of a server's database.

    >>> read_database_name("postgresql://ann:a/b@host:5432/crm?sslmode=require")
    'crm'
    """
    name = unquote(_skip_user(address).partition("/")[2].partition("?")[0].partition("#")[0])
    return name.replace("/", "_") or "postgres"


def describe_place(address: str) -> str:
    """Return an address without user and password.

    >>> describe_place("postgresql://ann:secret@host:5432/crm?password=secret")
    'postgresql://host:5432/crm'
    """
    return f"postgresql://{_skip_user(address).partition('?')[0]}"


def _skip_user(address: str) -> str:
    """Return what follows the last at sign, so that no password with odd letters gets through."""
    return address.partition("://")[2].rpartition("@")[2]


def hide_secrets(words: str, address: str) -> str:
    """Return words in which no secret of an address is left, whole or in part.

    >>> hide_secrets('bad token "s%cret"', "postgresql://ann:s%cret@host/crm")
    'bad token "***"'
    """
    user = address.partition("://")[2].rpartition("@")[0].partition(":")[2]
    secrets = {user, unquote(user), *re.split(r"[:/?#@&=]", user)}
    for setting in urlsplit(address.replace("[", "").replace("]", "")).query.split("&"):
        name, _, value = setting.partition("=")
        if name.lower() in SECRETS:
            secrets |= {value, unquote(value)}
    for secret in sorted(secrets - {""}, key=len, reverse=True):
        words = words.replace(secret, "***")
    return words

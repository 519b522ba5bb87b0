import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PASSWORD = "s3cret:pa/ss"
QUOTED = "s3cret%3Apa%2Fss"


def _programs():
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = [folder for folder in folders if (folder / "initdb").exists()]
    on_path = shutil.which("initdb")
    return found[0] if found else Path(on_path).parent if on_path else None


def _free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _as_server_user():
    """The server refuses to run as root, so root runs it as the user that Debian makes for it."""
    return {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}


@pytest.fixture(scope="session")
def postgres():
    """The address of a Postgres server of the tests' own, without its user."""
    pytest.importorskip("adbc_driver_postgresql")
    programs = _programs()
    if sys.platform == "win32" or programs is None:
        pytest.skip("Postgres is not installed (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="kolchin-postgres-"))
    how = {**_as_server_user(), "cwd": "/", "check": True, "capture_output": True}
    try:
        if how.get("user"):
            shutil.chown(folder, "postgres", "postgres")
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        init = [programs / "initdb", "-D", folder / "data", "-U", "ann", "-A", "scram-sha-256"]
        subprocess.run([*init, f"--pwfile={secret}", "-E", "UTF8", "--no-sync"], **how)
        port = _free_port()
        settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        control = [programs / "pg_ctl", "-D", folder / "data", "-w"]
        subprocess.run([*control, "-l", folder / "log", "-o", settings, "start"], **how)
        try:
            yield f"127.0.0.1:{port}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **how)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server(postgres):
    """The address of a Postgres database, as its owner, in a schema of this test alone."""
    import adbc_driver_postgresql.dbapi as driver

    address = f"postgresql://ann:{QUOTED}@{postgres}/postgres"
    with driver.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("DROP SCHEMA IF EXISTS other CASCADE")
        cursor.execute("CREATE SCHEMA public")
        connection.commit()
    return address

"""Do README's main job with an installed kolchin, and look at what comes out.

Run by scripts/release-check: python scripts/try_release.py BUILT CHANGELOG.md CITATION.cff
"""

import json
import re
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path

N_RECORDS = 300
FILES = {"entities.csv", "links.csv", "summary.json", "report.html", "posterior"}


def main(built: str, changelog: str, citation: str) -> None:
    """Fail with a sentence when what is installed is not what was built, or does not work."""
    installed = version("kolchin")
    expect(f"kolchin-{installed}" in Path(built).name, f"{built} says that it is {installed}")
    check_papers(installed, Path(changelog).read_text(), Path(citation).read_text())
    with tempfile.TemporaryDirectory() as folder:
        job(Path(folder), installed)
    print(f"{Path(built).name} works")


def check_papers(installed: str, changelog: str, citation: str) -> None:
    """A release is described; what lies between releases need not be."""
    if "dev" in installed or installed == "0.0":
        return
    expect(f"## [{installed}] - 20" in changelog, f"CHANGELOG.md has no dated section {installed}")
    expect(f"\nversion: {installed}\n" in citation, f"CITATION.cff is not of version {installed}")


def job(folder: Path, installed: str) -> None:
    """Simulate people, resolve them, and read every file that is promised."""
    told = run(folder, "--version")
    expect(told.strip() == f"kolchin {installed}", f"kolchin --version says {told!r}")
    run(folder, "simulate", "people", "--n", str(N_RECORDS), "--seed", "1", "--out", "people.csv")
    asked = ["--id", "rec_id", "--truth", "ent_id", "--draws", "50", "--seed", "1"]
    run(folder, "resolve", "people.csv", *asked)
    out = folder / "people.csv.resolved"
    missing = FILES - {path.name for path in out.iterdir()}
    expect(not missing, f"these were not written: {sorted(missing)}")
    summary = json.loads((out / "summary.json").read_text())
    expect(summary["version"] == installed, "summary.json has another version")
    expect(summary["n_records"] == N_RECORDS, "summary.json has another number of records")
    f1 = summary["evaluation"]["point_estimate"]["f1"]
    expect(f1 > 0.9, f"F1 is {f1}")
    expect("<html" in (out / "report.html").read_text(encoding="utf-8"), "the report is no page")
    run(folder, "golden", str(out))
    first, second = re.findall(r"^(\d+),(\d+)", (out / "links.csv").read_text(), re.M)[0]
    run(folder, "explain", str(out), first, second)


def run(folder: Path, *arguments: str) -> str:
    """Run the installed command outside the checkout, and return what it prints."""
    command = Path(sysconfig.get_path("scripts")) / "kolchin"
    done = subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True)
    expect(done.returncode == 0, f"kolchin {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def expect(holds: bool, otherwise: str) -> None:
    """End with a sentence unless something holds."""
    if not holds:
        sys.exit(f"The release does not work: {otherwise}")


if __name__ == "__main__":
    main(*sys.argv[1:])

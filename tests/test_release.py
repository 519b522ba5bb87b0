"""What a release promises: one version, papers that can be read, packages that work."""

import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import kolchin

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    not (ROOT / "scripts").exists(), reason="the scripts are not here: this is no checkout"
)


def test_the_version_has_one_place():
    """No file but the build's metadata has it; only CITATION.cff repeats that of a release."""
    assert kolchin.__version__ == version("kolchin")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    sources = (ROOT / "src").rglob("*.py")
    assert [path for path in sources if re.search(r"__version__ *=", path.read_text())] == []


def test_the_citation_is_of_the_last_release_in_the_changelog():
    """Version and date; what is not released yet stands above it."""
    cited = (ROOT / "CITATION.cff").read_text()
    told = re.findall(r"^## \[(\S+)\](?: - (\S+))?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert told[0] == ("Unreleased", "")
    version, date = told[1]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", date)
    assert re.search(r"^version: (\S+)$", cited, re.M)[1] == version
    assert re.search(r"^date-released: (\S+)$", cited, re.M)[1] == date


def test_the_hosts_workflow_runs_what_there_is():
    """Every script that a workflow runs exists, and the Pythons are those that are promised."""
    text = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
    folder = ROOT / ".github" / "workflows"
    everything = "\n".join(path.read_text() for path in sorted(folder.glob("*.yml")))
    scripts = re.findall(r"run: bash (\S+)", everything)
    assert len(scripts) >= 5
    assert [path for path in scripts if not (ROOT / path).exists()] == []
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    assert re.findall(r'"(3\.\d+)"', text.partition("python: [")[2].partition("]")[0]) == promised


@pytest.mark.slow
def test_wheel_and_sdist_do_the_job_in_clean_environments():
    done = subprocess.run(
        ["bash", "scripts/release-check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" works") == 2

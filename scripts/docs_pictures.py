"""Make the pictures of the pages: a report, a pair's waterfall, the review page.

python scripts/docs_pictures.py people.csv.resolved

The directory is that of a finished run with undecided pairs, such as the tutorial's. It needs the
extras browser and review, and Chromium on the path or installed by playwright.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
LARGEST = 200_000
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DRAWN = "[...document.querySelectorAll('#answer .chart')].every(it => it.querySelector('svg'))"


@contextmanager
def reviewing(run: Path) -> Iterator[str]:
    """Serve the review page of a copy of the run, and yield its address."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(run, Path(scratch) / run.name))
        words = [sys.executable, "-u", "-m", "kolchin", "review", str(copy), "--reviewer", "ann"]
        with subprocess.Popen(words, stderr=subprocess.STDOUT, stdout=subprocess.PIPE) as server:
            try:
                for line in server.stdout or ():
                    found = re.search(r"http://\S+/", line.decode())
                    if found:
                        yield found[0]
                        break
            finally:
                server.terminate()


def keep(picture: bytes, name: str) -> None:
    """Write a picture, if it is small enough to be committed."""
    if len(picture) > LARGEST:
        raise SystemExit(f"{name} has {len(picture):,} bytes; at most {LARGEST:,} are wanted")
    (FIGURES / name).write_bytes(picture)
    print(f"Wrote {name}: {len(picture):,} bytes")


def draw_report(page: Any, run: Path) -> None:
    """Keep the top of the report, and one undecided pair."""
    page.goto((run / "report.html").resolve().as_uri())
    page.wait_for_function(DRAWN)
    keep(page.screenshot(), "report.png")
    pair = page.locator("details.pair").first
    pair.scroll_into_view_if_needed()
    keep(pair.screenshot(), "waterfall.png")


def main() -> None:
    run = Path(sys.argv[1])
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        opened = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=browser,
            headless=True,
            args=FLAGS,
            viewport={"width": 1000, "height": 700},
            color_scheme="light",
        )
        page = opened.new_page()
        draw_report(page, run)
        with reviewing(run) as address:
            page.goto(address)
            page.wait_for_timeout(2_000)
            keep(page.screenshot(), "review.png")
        opened.close()


if __name__ == "__main__":
    main()

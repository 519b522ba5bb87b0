"""Write the pages of the gallery as notebooks, with what they print, beside them.

python scripts/gallery.py [--check]

The pages are the source: scripts/docs_outputs.py runs them and writes their outputs, this script
turns them into cells of a notebook (nbformat 4). --check fails where a notebook is not its page.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs" / "gallery"
FENCE = re.compile(
    r"<!-- (?P<kind>run|output)[^\n]*? -->\n+```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S
)
MARK = re.compile(r"<!-- .*? -->\n?")
OWN_LINK = re.compile(r"The same as a notebook: [^\n]*\n")


def cells(text: str) -> Iterator[dict[str, Any]]:
    """Yield the cells of a page: its words, its code, and below each what it printed."""
    end, code = 0, None
    for number, match in enumerate(FENCE.finditer(text)):
        words = prose(text[end : match.start()])
        end = match.end()
        if code is not None and (words or match["kind"] == "run"):
            yield code
            code = None
        if words:
            yield {
                "cell_type": "markdown",
                "id": f"words-{number}",
                "metadata": {},
                "source": words,
            }
        if match["kind"] == "run":
            source = ("%%bash\n" if match["language"] == "sh" else "") + match["body"].rstrip("\n")
            code = {
                "cell_type": "code",
                "execution_count": None,
                "id": f"code-{number}",
                "metadata": {},
                "outputs": [],
                "source": source,
            }
        elif code is not None:
            shown = {"name": "stdout", "output_type": "stream", "text": match["body"]}
            code["outputs"] = [shown] if match["body"] else []
    if code is not None:
        yield code
    if words := prose(text[end:]):
        yield {"cell_type": "markdown", "id": "words-last", "metadata": {}, "source": words}


def prose(text: str) -> str:
    """Return the words of a page without marks, with links that lead to the pages."""
    return OWN_LINK.sub("", MARK.sub("", text)).strip()


def notebook(text: str) -> str:
    """Return a page as a notebook."""
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": python, "language_info": {"name": "python"}}
    whole = {"cells": list(cells(text)), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail on differences")
    check = parser.parse_args().check
    stale = []
    for page in sorted(GALLERY.glob("*.md")):
        file, new = page.with_suffix(".ipynb"), notebook(page.read_text(encoding="utf-8"))
        if file.exists() and file.read_text(encoding="utf-8") == new:
            continue
        stale.append(file.name)
        if not check:
            file.write_text(new, encoding="utf-8")
    if stale:
        print(f"{'Not their pages' if check else 'Written'}: {', '.join(stale)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())

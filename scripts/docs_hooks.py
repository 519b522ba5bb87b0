"""What MkDocs does beside its plugins: formulas become MathML when the site is built."""

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">'
    r"\\(?:\((?P<inline>.*?)\\\)|\[(?P<block>.*?)\\\])</(?P=tag)>",
    re.S,
)
SHIM = "https://unpkg.com/iframe-worker/shim"


def on_page_content(text: str, **_: Any) -> str:
    """Turn the formulas of a page into MathML, which browsers show without any script."""
    return FORMULA.sub(_mathml, text)


def _mathml(found: re.Match[str]) -> str:
    block = found["block"] is not None
    formula = html.unescape(found["block"] if block else found["inline"])
    return convert(formula.strip(), display="block" if block else "inline")


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Put docs/search_from_disk.js in the place of the one script that is of the network."""
    ours = "../" * page.url.count("/") + "search_from_disk.js"
    return output.replace(SHIM, ours)


def on_post_template(output: str, **_: Any) -> str:
    """Do the same for pages that are not written in Markdown."""
    return output.replace(SHIM, "search_from_disk.js")

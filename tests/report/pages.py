"""A page as its reader sees it: the text, and the parts that tests ask for."""

import json
from html.parser import HTMLParser

# Elements without an end.
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects text, elements and scripts of a page, and checks that elements are nested."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] == "script":
            attributes, code = self.scripts[-1]
            self.scripts[-1] = (attributes, code + data)
        elif self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def charts(self) -> dict:
        """The charts by name."""
        (code,) = (code for attributes, code in self.scripts if attributes.get("id") == "charts")
        return json.loads(code)

    def rows(self, name: str) -> list[dict]:
        """The data of a chart, of its last layer if they have each their own."""
        spec = self.charts[name]
        data = spec.get("data") or spec["layer"][-1]["data"]
        return spec["datasets"][data["name"]]

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        return [a for _, a in self.elements if name in (a.get("class") or "").split()]

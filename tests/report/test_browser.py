"""The page in a real browser: no error, nothing loaded, nothing too wide, every chart drawn.

Install it with `pip install 'kolchin[browser]'` and `playwright install chromium`, or have Chromium
on the path. Without a browser these tests are skipped, and say so.
"""

import shutil

import pytest
from contents import hostile, large, sampled, tiny

from kolchin.report import render

CONTENTS = {"sampled": sampled, "large": large, "tiny": tiny, "hostile": hostile}
SCREENS = [(1280, "light"), (390, "dark"), (360, "light")]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: kolchin[browser]")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with api.sync_playwright() as playwright:
        try:
            # As root, as in containers, Chromium runs without its sandbox or not at all.
            opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"no browser: {error.message.splitlines()[0]}")
        yield opened
        opened.close()


@pytest.fixture(scope="module", params=CONTENTS)
def file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / f"{request.param}.html"
    path.write_text(render(CONTENTS[request.param]()), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_page_works(browser, file, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.wait_for_function(
        "[...document.querySelectorAll('.chart')].every(place => place.querySelector('svg'))",
        timeout=60_000,
    )
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.hacked") is None
    too_wide = "svg => svg.getBoundingClientRect().right > innerWidth"
    assert not page.evaluate(f"[...document.querySelectorAll('.chart svg')].some({too_wide})")
    page.close()


def test_colours_of_charts_follow_the_scheme(browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(render(tiny()), encoding="utf-8")
    colours = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(file.as_uri())
        label = page.wait_for_selector("[data-chart=sizes] text", state="attached")
        colours.add(label.evaluate("text => getComputedStyle(text).fill"))
        page.close()
    assert len(colours) == 2

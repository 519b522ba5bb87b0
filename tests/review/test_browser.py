"""The review page in a real browser: keys, mouse, undo, two windows, a phone, many questions.

Without Chromium these tests are skipped, and say so.
"""

import shutil
import time

import pytest
from runs import content_in, desk_in

from kolchin.review.answers_file import AnswersFile
from kolchin.review.desk import ReviewDesk
from kolchin.review.queues import (
    AGAIN,
    PAIRS,
    Question,
    make_again_questions,
    make_group_questions,
    make_pair_questions,
)
from kolchin.review.rates import estimate_rate
from kolchin.review.server import ReviewServer

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


@pytest.fixture
def page_of(browser):
    """Open the page of a review; at the end nothing must have gone wrong or been loaded."""
    said, asked, pages = [], [], []

    def open_page(served, width=1200, height=800):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(served.address)
        page.wait_for_selector("#card:not([hidden])")
        page.wait_for_selector("body[aria-busy=false]")
        pages.append((page, served.address))
        return page

    yield open_page
    assert said == []
    assert all(url.startswith(("data:", pages[0][1])) for url in asked) or len(pages) > 1
    for page, _ in pages:
        page.close()


def answers_in(folder):
    return [
        (one.record_a, one.record_b, one.answer)
        for one in AnswersFile(folder / "answers.csv").read()
    ]


def wait_for(page, words):
    """Wait until the page says something; by looking, since it lets no script run but its own."""
    until = time.monotonic() + 15
    while words not in page.inner_text("body"):
        assert time.monotonic() < until, page.inner_text("body")
        page.wait_for_timeout(50)
    page.wait_for_selector("body[aria-busy=false]")


def test_answers_by_keys_and_undo(page_of, tmp_path):
    with ReviewServer(desk_in(tmp_path)) as served:
        page = page_of(served)
        assert "believes" not in page.inner_text("main")
        page.keyboard.press("s")
        wait_for(page, "you said same; the model believes in the same with 40.0%")
        page.keyboard.press("d")
        wait_for(page, "you said different")
        wait_for(page, "2 of 4 answered")
        page.keyboard.press("z")
        wait_for(page, "taken back")
        wait_for(page, "1 of 4 answered")
        page.keyboard.press("u")
        wait_for(page, "you said unsure")
        page.keyboard.press("ArrowLeft")
        wait_for(page, "You said unsure")
    lines = answers_in(tmp_path)
    assert [answer for _, _, answer in lines] == ["same", "different", "unsure", "unsure"]
    assert lines[1][:2] == lines[2][:2] == lines[3][:2] != lines[0][:2]


def test_answers_by_mouse_and_who_does_not_belong(page_of, tmp_path):
    with ReviewServer(desk_in(tmp_path)) as served:
        page = page_of(served)
        page.click("#different")
        wait_for(page, "you said different")
        page.click("[data-queue=groups]")
        wait_for(page, "Are these 3 records one and the same?")
        assert page.is_disabled("#different")
        page.click("[data-mark='3']")
        page.click("#different")
        wait_for(page, "Nothing is left here")
        page.click("#undo")
        wait_for(page, "taken back")
    said = [(*sorted(pair), answer) for *pair, answer in answers_in(tmp_path)[1:3]]
    assert sorted(said) == [("r10", "r8", "different"), ("r10", "r9", "different")]


def test_two_windows_lose_nothing_and_see_each_other(page_of, tmp_path):
    with (
        ReviewServer(desk_in(tmp_path, "ann")) as one,
        ReviewServer(desk_in(tmp_path, "bob")) as two,
    ):
        ann, bob = page_of(one), page_of(two)
        for page, key in ((ann, "s"), (bob, "d"), (ann, "s"), (bob, "d")):
            page.keyboard.press(key)
            wait_for(page, "you said")
            page.wait_for_timeout(100)
        bob.reload()
        wait_for(bob, "answered")
    lines = AnswersFile(tmp_path / "answers.csv").read()
    assert [one.reviewer for one in lines] == ["ann", "bob", "ann", "bob"]
    # Both begin with the same question; then each goes on with what nobody has answered.
    assert lines[0].pair == lines[1].pair
    assert len({one.pair for one in lines}) >= 2


@pytest.mark.parametrize("width", [360, 390])
def test_on_a_phone_nothing_is_too_wide(page_of, tmp_path, width):
    with ReviewServer(desk_in(tmp_path)) as served:
        page = page_of(served, width, 740)
        for queue in ("pairs", "groups"):
            page.click(f"[data-queue={queue}]")
            page.wait_for_selector(f"[data-queue={queue}][aria-selected=true]")
            page.wait_for_selector("body[aria-busy=false]")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            for button in ("#same", "#different", "#unsure", "#undo"):
                box = page.query_selector(button).bounding_box()
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width
                assert 32 <= box["height"] <= 72  # two lines at most: no word is broken
        page.click("#same")
        wait_for(page, "you said same")


def test_pairs_are_asked_again_without_what_was_said(page_of, tmp_path):
    content = content_in(tmp_path, 12)
    pairs = make_pair_questions(content)
    desk = ReviewDesk(content, {PAIRS: pairs}, "ann")
    for number in range(10):
        desk.answer(PAIRS, number, "same")
    again = make_again_questions(content, AnswersFile(tmp_path / "answers.csv").read())
    with ReviewServer(ReviewDesk(content, {PAIRS: pairs, AGAIN: again}, "ann")) as served:
        page = page_of(served)
        page.click("[data-queue=again]")
        wait_for(page, "how often two answers differ")
        assert "You said" not in page.inner_text("main")
        page.keyboard.press("d")
        wait_for(page, "1 of 10 answered")
    rate = estimate_rate(AnswersFile(tmp_path / "answers.csv").read())
    assert (rate.n_pairs, rate.n_disagreeing) == (1, 1)


def test_ten_thousand_open_pairs(page_of, tmp_path):
    content = content_in(tmp_path, n_pairs=10_000)
    questions = [Question(PAIRS, (2 * k, 2 * k + 1), 0.4, 0.8, 0.4) for k in range(10_000)]
    desk = ReviewDesk(content, {PAIRS: questions}, "ann")
    with ReviewServer(desk) as served:
        began = time.monotonic()
        page = page_of(served)
        wait_for(page, "of 10,000")
        assert time.monotonic() - began < 10
        began = time.monotonic()
        for k in range(5):
            page.keyboard.press("s" if k % 2 else "d")
            wait_for(page, f"{k + 1} of 10,000 answered")
        assert time.monotonic() - began < 10
    assert len(answers_in(tmp_path)) == 5


class Recount:
    """A run in which all pairs that are called the same are so after a count."""

    def __init__(self, folder):
        self.folder, self.counted, self.held = folder, 0, 0.0

    def count_waiting(self, answers):
        return len(answers) - self.counted

    def count(self):
        time.sleep(self.held)
        self.counted = len(AnswersFile(self.folder / "answers.csv").read())
        content = content_in(self.folder, 4)
        pairs = make_pair_questions(content)[::-1]
        return content, {"pairs": pairs, "groups": make_group_questions(content)}


def test_a_button_lets_answers_count(page_of, tmp_path):
    recount = Recount(tmp_path)
    recount.held = 1.0
    content = content_in(tmp_path)
    queues = {"pairs": make_pair_questions(content), "groups": make_group_questions(content)}
    with ReviewServer(ReviewDesk(content, queues, "ann", recount)) as served:
        page, other = page_of(served), page_of(served)
        assert not page.is_visible("#count")
        page.keyboard.press("s")
        wait_for(page, "1 answer does not count yet")
        page.click("#count")
        wait_for(page, "being counted")
        wait_for(page, "The answers count now")
        assert not page.is_visible("#count")
        # A window with the questions of before must not answer others in their place.
        other.keyboard.press("d")
        wait_for(other, "this answer was not taken")
        assert len(answers_in(tmp_path)) == 1
        other.keyboard.press("d")
        wait_for(other, "you said different")
    assert len(answers_in(tmp_path)) == 2

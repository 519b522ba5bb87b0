"""The report: one self-contained page of HTML that says what was found and how sure it is."""

from kolchin.report.report_content import Content

__all__ = ["Content", "render"]


def render(content: Content) -> str:
    """Return the whole page: it opens offline and loads nothing."""
    from kolchin.report.rendering import render_page

    return render_page(content)

"""The report: one self-contained page of HTML that says what was found and how sure it is."""

from kolchin.report.report_content import ReportContent

__all__ = ["ReportContent", "render"]


def render(content: ReportContent) -> str:
    """Return the whole page: it opens offline and loads nothing."""
    from kolchin.report.rendering import render_page

    return render_page(content)

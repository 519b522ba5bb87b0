"""What the figures share: matplotlib on demand, and saving."""

from pathlib import Path
from typing import TYPE_CHECKING

from kolchin.errors import MissingExtraError
from kolchin.files import replace_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# One colour a model, told apart also by those who see few colours (Okabe and Ito).
COLOURS = {"DP": "#0072B2", "PYP": "#56B4E9", "NBNB": "#E69F00", "NBD": "#D55E00"}

_RASTER_DPI = 200


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, in inches, that needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Figures need matplotlib. Install it with: pip install 'kolchin[plots]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", directory: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG, the same bytes for the same figure."""
    import matplotlib as mpl

    files = []
    for kind in ("png", "svg"):
        file = directory / f"{name}.{kind}"
        # SVG identifiers are random without a salt, and the hour is in the file unless taken out.
        with replace_whole(file) as part, mpl.rc_context({"svg.hashsalt": name}):
            metadata = {"Date": None} if kind == "svg" else {}
            figure.savefig(part, format=kind, dpi=_RASTER_DPI, metadata=metadata)
        files.append(file)
    return files

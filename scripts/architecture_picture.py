"""Draw docs/figures/architecture.svg: the rooms of the house as a row passes them.

python scripts/architecture_picture.py
"""

from html import escape
from pathlib import Path

ROOMS = [
    ("records", "a file or frame becomes codes and texts", "Records"),
    ("comparison", "pairs that share a key are compared into levels", "Comparisons"),
    ("likelihoods x priors", "what levels mean; how large entities are", "Model"),
    ("sampling", "chains of partitions, moved by kernels", "labels, draw by draw"),
    ("posterior", "draws kept, links, point estimate, diagnostics", "Posterior"),
    ("resolution", "entities, evidence, golden records, cautions", "Result"),
    ("report, review, cli", "pages, files and words for people", "report.html"),
]
WIDTH, HEIGHT, GAP, LEFT = 520, 54, 34, 20


def box(k: int, name: str, what: str, gives: str) -> str:
    """Draw a room, and the arrow with what it hands on."""
    top = 16 + k * (HEIGHT + GAP)
    middle = LEFT + WIDTH / 2
    parts = [
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef1fb" '
        'stroke="#3f51b5"/>',
        f'<text x="{middle}" y="{top + 22}" font-weight="bold">{escape(name)}</text>',
        f'<text x="{middle}" y="{top + 42}" fill="#444">{escape(what)}</text>',
    ]
    bottom = top + HEIGHT
    if k < len(ROOMS) - 1:
        parts.append(
            f'<path d="M{middle} {bottom} V{bottom + GAP - 3}" stroke="#3f51b5" '
            'marker-end="url(#head)"/>'
        )
    parts.append(
        f'<text x="{middle + 12}" y="{bottom + 21}" text-anchor="start" font-style="italic" '
        f'fill="#3f51b5">{escape(gives)}</text>'
    )
    return "\n".join(parts)


def main() -> None:
    height = 16 + len(ROOMS) * (HEIGHT + GAP) + 4
    width = WIDTH + 2 * LEFT
    rooms = "\n".join(box(k, *room) for k, room in enumerate(ROOMS))
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        'font-family="sans-serif" font-size="15" text-anchor="middle">\n'
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="5" refY="4" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#3f51b5"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n{rooms}\n</svg>\n'
    )
    Path(__file__).parents[1].joinpath("docs/figures/architecture.svg").write_text(picture)


if __name__ == "__main__":
    main()

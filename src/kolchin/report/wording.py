"""Numbers and values as people read them."""

import json
import math
from typing import Any, TypeGuard

NOTHING = "–"
NOT_CONVERGED = "It has not converged: take the numbers as a draft, and draw more."
LONGEST_VALUE = 160

INBORN = frozenset(
    {
        *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toString"),
        *("toLocaleString", "valueOf", "__proto__", "__defineGetter__", "__defineSetter__"),
        *("__lookupGetter__", "__lookupSetter__"),
    }
)

# Control characters would be lost or break the page: show their pictures (U+2400 and after).
_CONTROLS = {code: 0x2400 + code for code in range(32)} | {0x7F: 0x2421}


def write_number(value: Any, digits: int = 3) -> str:
    """Return a number with so many significant digits and its thousands apart.

    >>> write_number(12345.678), write_number(0.04567), write_number(None)
    ('12,346', '0.0457', '–')
    """
    if not is_number(value):
        return NOTHING
    if 0 < value < 1e-4:
        return "<0.0001"
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    text = f"{value:,.{max(digits - 1 - magnitude, 0)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def write_decimals(value: Any, digits: int = 3) -> str:
    """Return a number with so many decimals."""
    return f"{value:.{digits}f}".replace("-", "−") if is_number(value) else NOTHING


def write_count(value: Any) -> str:
    """Return a count, rounded, with its thousands apart."""
    return f"{value:,.0f}".replace("-", "−") if is_number(value) else NOTHING


def write_counted(value: Any, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    >>> write_counted(1, "entity", "entities"), write_counted(2, "record")
    ('1 entity', '2 records')
    """
    text = write_count(value)
    return f"{text} {noun if text == '1' else plural or noun + 's'}"


def write_percent(share: Any) -> str:
    """Return a share in percent; what is neither none nor all never reads 0% or 100%.

    >>> write_percent(0.1234), write_percent(0.9999), write_percent(0.0001)
    ('12%', '>99%', '<1%')
    """
    if not is_number(share):
        return NOTHING
    if 0 < share < 0.01:
        return "<1%"
    if 0.99 < share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def write_signed(bits: Any) -> str:
    """Return bits with their sign and one decimal."""
    if not is_number(bits):
        return NOTHING
    # Adding 0.0 takes the sign off a zero.
    rounded = round(bits, 1) + 0.0
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def write_duration(seconds: Any) -> str:
    """Return a time in the unit that suits it."""
    if not is_number(seconds):
        return NOTHING
    if seconds < 60:
        return f"{write_number(seconds, 2)} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


def write_text(value: Any, longest: int = LONGEST_VALUE) -> str:
    """Return a value as one short line of text."""
    shown = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    if len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    return shown.translate(_CONTROLS)


def write_chart_label(name: str, longest: int = 60) -> str:
    """Return a name as a chart can group by it.

    Objects of JavaScript have some names from birth, and Vega looks values up in objects: such a
    name gets a space without width at its end.
    """
    label = write_text(name, longest)
    return label + "\u200b" if label in INBORN else label


def is_number(value: Any) -> TypeGuard[float]:
    """Tell whether a value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)

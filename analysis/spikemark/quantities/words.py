"""Numbers as words: significant digits, units and kinds."""

import math
from collections.abc import Iterable

NARROW = "\u202f"  # narrow no-break space: between thousands, and between a number and its unit
MINUS = "\u2212"


def number(value: float, digits: int = 3) -> str:
    """`value` with `digits` significant digits, thousands apart; 1e5 and more without decimals.

    >>> number(20000), number(0.31249), number(-1.5)
    ('20\\u202f000', '0.312', '\\u22121.50')
    """
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("∞" if value > 0 else MINUS + "∞")
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if exponent < -4:
        mantissa = f"{value / 10**exponent:.{digits - 1}f}"
        return f"{mantissa}·10{_superscript(exponent)}".replace("-", MINUS)
    decimals = max(0, digits - 1 - exponent)
    return f"{value:,.{decimals}f}".replace(",", NARROW).replace("-", MINUS)


def integer(value: float) -> str:
    """A whole number, thousands apart."""
    return f"{round(value):,}".replace(",", NARROW).replace("-", MINUS)


def percent(share: float, digits: int = 0) -> str:
    """A share as per cent; small ones keep two significant digits instead of becoming 0 %."""
    value = 100 * share + 0.0  # no negative zero
    if value and abs(value) < 0.001:
        return f"below 0.001{NARROW}%"
    if value and abs(value) < 10**-digits / 2:
        return f"{number(value, 2)}{NARROW}%"
    return f"{value:.{digits}f}{NARROW}%".replace("-", MINUS)


def change(factor: float, digits: int = 0) -> str:
    """A factor as a change: 0.38 is '−62 %', 1.09 is '+9 %'."""
    words = percent(factor - 1, digits)
    return f"+{words}" if factor > 1 and words[0].isdigit() else words


def microseconds(seconds: float, digits: int = 3) -> str:
    """A time in seconds as microseconds."""
    return f"{number(seconds * 1e6, digits)}{NARROW}µs"


def span(values: Iterable[float], digits: int = 3) -> str:
    """Smallest to largest, or the one value there is."""
    values = list(values)
    low, high = number(min(values), digits), number(max(values), digits)
    if low == high:
        return low
    return f"{low} to {high}" if min(values) < 0 else f"{low}–{high}"


def listed(names: Iterable[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def counted(count: int, word: str, plural: str | None = None) -> str:
    """'1 run', '3 runs'."""
    return f"{integer(count)} {word if count == 1 else plural or word + 's'}"


def _superscript(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))

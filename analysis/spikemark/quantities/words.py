"""Numbers as words: significant digits, units and kinds."""

import math
from collections.abc import Iterable

#: Numbers below are what rounding leaves of a difference.
NOISE = 1e-12
#: Narrow no-break space: between thousands, and between a number and its unit.
NARROW = "\u202f"
MINUS = "\u2212"


def number(value: float, digits: int = 3, most_decimals: int | None = None) -> str:
    """`value` with `digits` significant digits, thousands apart; 1e5 and more without decimals.

    What rounding leaves of a difference is 0.

    Args:
        value: the number.
        digits: significant digits.
        most_decimals: that are written, where an interval supports no more (`decimals_between`).

    Example:
        >>> number(20000), number(0.31249), number(-1.5), number(-0.0021, most_decimals=1)
        ('20\\u202f000', '0.312', '−1.50', '0')
    """
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if abs(value) < NOISE or _rounds_to_zero(value, most_decimals):
        return "0"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    decimals = max(0, digits - 1 - exponent)
    if most_decimals is not None:
        decimals = min(decimals, most_decimals)
    elif exponent < -4:
        mantissa = f"{value / 10**exponent:.{digits - 1}f}"
        return f"{mantissa}·10{_superscript(exponent)}".replace("-", MINUS)
    return f"{value:,.{decimals}f}".replace(",", NARROW).replace("-", MINUS)


def _rounds_to_zero(value: float, decimals: int | None) -> bool:
    """Whether nothing is left of a number with so many decimals."""
    return decimals is not None and float(f"{value:.{decimals}f}") == 0


def decimals_between(low: float, high: float) -> int | None:
    """How many decimals an interval supports: two significant digits of its width.

    None where it has no width, and says nothing.

    Example:
        >>> decimals_between(-18.0, 0.3), decimals_between(1.21, 1.24), decimals_between(1, 1)
        (0, 3, None)
    """
    width = high - low
    if not NOISE < width < math.inf:
        return None
    return max(0, 1 - math.floor(math.log10(width)))


def integer(value: float) -> str:
    """A whole number, thousands apart.

    Example:
        >>> integer(129068)
        '129\\u202f068'
    """
    return f"{round(value):,}".replace(",", NARROW).replace("-", MINUS)


def percent(share: float, digits: int = 0, most_decimals: int | None = None) -> str:
    """A share as per cent; small ones keep two significant digits instead of becoming 0 %.

    Args:
        share: of 1.
        digits: decimals of the per cent.
        most_decimals: that small ones have, where an interval supports no more.

    Example:
        >>> percent(0.253), percent(0.00012), percent(0.00012, most_decimals=1)
        ('25\\u202f%', '0.012\\u202f%', '0\\u202f%')
    """
    value = 100 * share
    if abs(share) <= NOISE or _rounds_to_zero(value, most_decimals):
        value = 0.0  # no negative zero
    if value and most_decimals is None and abs(value) < 0.001:
        return f"below 0.001{NARROW}%"
    if value and abs(value) < 10**-digits / 2:
        return f"{number(value, 2, most_decimals)}{NARROW}%"
    return f"{value:.{digits}f}{NARROW}%".replace("-", MINUS)


def change(factor: float, digits: int = 0, most_decimals: int | None = None) -> str:
    """A factor as a change: 0.38 is '−62 %', 1.09 is '+9 %'.

    Args:
        factor: after over before.
        digits: decimals of the per cent.
        most_decimals: as of `percent`.

    Example:
        >>> change(0.38), change(1.09), change(1.0031), change(1.0031, most_decimals=0)
        ('−62\\u202f%', '+9\\u202f%', '+0.31\\u202f%', '0\\u202f%')
    """
    words = percent(factor - 1, digits, most_decimals)
    grows = factor > 1 + NOISE and words[0].isdigit()  # not: below 0.001 %
    return f"+{words}" if grows and words != percent(0, digits) else words


def microseconds(seconds: float, digits: int = 3) -> str:
    """A time in seconds as microseconds.

    Example:
        >>> microseconds(2.5e-5)
        '25.0\\u202fµs'
    """
    return f"{number(seconds * 1e6, digits)}{NARROW}µs"


def span(values: Iterable[float], digits: int = 3) -> str:
    """Smallest to largest, or the one value there is.

    Example:
        >>> span([1.5, 2.0, 0.25])
        '0.250–2.00'
    """
    values = list(values)
    low = number(min(values), digits)
    high = number(max(values), digits)
    if low == high:
        return low
    between = " to " if min(values) < 0 else "–"
    return f"{low}{between}{high}"


def with_ends(value: str, low: str, high: str) -> str:
    """A number in words with the ends of its interval; alone where both ends read as it does.

    Example:
        >>> with_ends("−6 %", "−8 %", "−5 %"), with_ends("−6 %", "−6 %", "−6 %")
        ('−6 % (−8 % to −5 %)', '−6 %')
    """
    return value if low == high == value else f"{value} ({low} to {high})"


def listed(names: Iterable[str]) -> str:
    """Names as a list in words.

    Example:
        >>> listed(["a", "b", "c"])
        'a, b and c'
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def counted(count: int, word: str, plural: str | None = None) -> str:
    """How many there are of something.

    Args:
        count: the number.
        word: what there is one of.
        plural: what there are several of, unless that is `word` and an s.

    Example:
        >>> counted(1, "run"), counted(3, "run")
        ('1 run', '3 runs')
    """
    if count != 1:
        word = plural or f"{word}s"
    return f"{integer(count)} {word}"


def _superscript(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))

"""Draws as words: medians with intervals, shares of draws, targets."""

import math

import numpy as np

from spikemark.quantities.words import MINUS, NARROW, integer, number

from . import draws
from .draws import Draws

EXACT = 1e-9  #: an interval that is narrower, as a share, is what rounding leaves
WHOLE = 100.0  #: from here on, exact numbers are shown without decimals


def short(value: float, digits: int = 2) -> str:
    """A number with no more significant digits than it has.

    >>> short(0.5), short(1234.0)
    ('0.50', '1\u202f200')
    """
    return number(float(f"{value:.{digits}g}"), digits)


def span(result: Draws, digits: int = 2) -> str:
    """The 95 % interval, such as `5.0-20`.

    Example:
        >>> span(np.linspace(1, 3, 101))
        '1.1-3.0'
    """
    _, low, high = draws.interval(result)
    return f"{short(low, digits)}-{short(high, digits)}"


def interval(values: Draws | float | None, digits: int = 2) -> str:
    """Median and 95 % interval, such as `10 (5.0-20)`; one number where nothing is uncertain.

    >>> interval(3.0), interval(None)
    ('3.0', 'unknown')
    """
    if values is None:
        return "unknown"
    middle = float(np.median(values))
    draws_of_values = np.asarray(values)
    if draws_of_values.ndim == 0 or np.ptp(draws_of_values) <= EXACT * abs(middle):
        return short(middle, digits)
    text = short(middle, digits)
    ends = span(draws_of_values, digits)
    if ends == f"{text}-{text}":  # narrower than the digits that are shown
        return text
    return f"{text} ({ends})"


def supported(low: float, high: float, *values: float) -> list[str]:
    """Numbers with no more digits than their interval supports: a tenth of its width, as a power of
    ten.

    Example:
        >>> supported(-4310.0, 16210.0, -4310.0, 16210.0)
        ['−4\\u202f000', '16\\u202f000']
        >>> supported(20999.9999999999964, 21000.0000000000036, 21000.0000000000036)
        ['21\\u202f000']
    """
    width = high - low
    if width <= EXACT * max(abs(low), abs(high)):
        return [_exact(value) for value in values]
    decimals = -math.floor(math.log10(width / 10))
    texts = []
    for value in values:
        rounded = round(value, decimals)
        text = f"{rounded:,.{max(0, decimals)}f}" if rounded else "0"
        texts.append(text.replace(",", NARROW).replace("-", MINUS))
    return texts


def _exact(value: float) -> str:
    """A number that nothing makes uncertain, without what rounding left of it.

    >>> _exact(20999.9999999999964), _exact(0.25)
    ('21\\u202f000', '0.250')
    """
    return integer(value) if abs(value) >= WHOLE else number(value, most_decimals=3)


def probability(share: float) -> str:
    """A share of draws as a probability, of which no number of draws makes a certainty.

    >>> probability(0.984), probability(1.0), probability(0.0)
    ('98 %', 'over 99 %', 'under 1 %')
    """
    if share >= 0.995:
        return "over 99 %"
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def chance(share: float) -> str:
    """A share as per cent, without more than draws show.

    >>> chance(0.5), chance(0.004), chance(0.998), chance(1.0)
    ('50 %', 'under 1 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def goal(target: float) -> str:
    """A target in words.

    >>> goal(1.0), goal(0.5)
    ('real time', 'real-time factor 0.50')
    """
    return "real time" if target == 1 else f"real-time factor {short(target)}"


def capital(text: str) -> str:
    """The start of a sentence.

    Example:
        >>> capital("the mini-app")
        'The mini-app'
    """
    return text[:1].upper() + text[1:]

import math
import random

import pytest

from spikemark.quantities.words import (
    MINUS,
    NARROW,
    change,
    counted,
    decimals_between,
    integer,
    number,
    percent,
    span,
)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (number(0), "0"),
        (number(0.31249), "0.312"),
        (number(0.9999), "1.00"),
        (number(99.96), "100"),
        (number(20000), f"20{NARROW}000"),
        (number(-1.5), f"{MINUS}1.50"),
        (number(1.94e-8), "1.94·10⁻⁸"),
        (number(math.inf), "∞"),
        (integer(1234567.4), f"1{NARROW}234{NARROW}567"),
        (percent(0), f"0{NARROW}%"),
        (percent(0.0042), f"0.42{NARROW}%"),
        (percent(1e-9), f"below 0.001{NARROW}%"),
        (percent(0.686), f"69{NARROW}%"),
        (percent(0.2, 1), f"20.0{NARROW}%"),
        (change(0.38), f"{MINUS}62{NARROW}%"),
        (change(1.09), f"+9{NARROW}%"),
        (change(1.002), f"+0.20{NARROW}%"),
        (change(1.0), f"0{NARROW}%"),
        (change(1 + 1e-7), f"below 0.001{NARROW}%"),
        (change(1 - 1e-7), f"below 0.001{NARROW}%"),
        (span([2, 1, 3]), "1.00–3.00"),
        (span([0.5]), "0.500"),
        (span([-1, 2]), f"{MINUS}1.00 to 2.00"),
        (counted(1, "run"), "1 run"),
        (counted(3, "run"), "3 runs"),
    ],
)
def test_numbers_as_words(made, words):
    assert made == words


def in_words(text: str) -> tuple[float, int]:
    """A written number, and its decimals."""
    plain = text.replace(NARROW, "").replace(MINUS, "-").replace("+", "").replace("%", "")
    return float(plain), len(plain.partition(".")[2])


@pytest.mark.parametrize("seed", range(200))
def test_no_more_decimals_than_an_interval_supports(seed):
    """Of numbers, shares and changes, whose values may be small beside the width."""
    drawn = random.Random(seed)
    width = 10 ** drawn.uniform(-6, 6)
    value = width * drawn.choice([0, 1e-6, 1e-3, 0.1, 1, 10]) * drawn.uniform(-1, 1)
    supported = decimals_between(value - width / 2, value + width / 2)
    unit = 10.0**-supported
    assert unit <= width / 10 * (1 + 1e-6) or supported == 0
    share = value / 100
    for text, digits in (
        (number(value, 2, supported), 2),
        (percent(share, 0, supported), 2),
        (change(1 + share, 0, supported), 2),
    ):
        written, decimals = in_words(text)
        assert decimals <= supported
        of_two_digits = 10.0 ** (math.floor(math.log10(abs(value) or 1)) + 1 - digits)
        assert abs(written - value) <= 0.51 * max(unit, of_two_digits, 1e-9) + 0.5 * ("%" in text)
        assert written != 0 or text[0].isdigit()  # no sign of nothing
    assert in_words(change(1 + share, 0, supported))[0] * value >= 0

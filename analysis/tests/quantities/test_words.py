import math

import pytest

from spikemark.quantities.words import (
    MINUS,
    NARROW,
    change,
    counted,
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

import pytest

from spikemark.quantities.words import MINUS, NARROW, change


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (0.38, f"{MINUS}62{NARROW}%"),
        (1.09, f"+9{NARROW}%"),
        (1.002, f"+0.20{NARROW}%"),
        (1.0, f"0{NARROW}%"),
        (1 + 1e-7, f"below 0.001{NARROW}%"),
        (1 - 1e-7, f"below 0.001{NARROW}%"),
    ],
)
def test_a_change_has_a_sign_where_it_has_a_number(factor, words):
    assert change(factor) == words

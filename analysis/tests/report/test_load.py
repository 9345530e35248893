"""What reading results costs grows with their number, and no faster."""

import large
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

#: How much more the second doubling may add than the first: 2 where costs are linear, 4 where
#: quadratic.
MOST = 2.6


@pytest.mark.parametrize("name", large.CASES)
def test_calls_and_memory_grow_linearly(name, tmp_path, undrawn):
    case = large.CASES[name]
    found = []
    for factor in (1, 2, 4):
        folder = tmp_path / str(factor)
        folder.mkdir()
        case.make(folder, factor * case.least)
        if not found:
            case.use(folder)  # what is kept from the first time on
        found.append(large.calls_and_bytes(case.use, folder))
    for one, two, four in zip(*found, strict=True):
        assert four - two <= MOST * (two - one) + 0.25 * two
        assert four <= 4.2 * one

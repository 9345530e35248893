"""The stretch of cycles in which no rank was interrupted."""

import numpy as np
import pytest

from spikemark.records.imported import stretch


@pytest.mark.parametrize(
    ("long", "expected"),
    [
        ([], (0, 100)),
        ([(0, 30)], (31, 69)),
        ([(0, 30), (1, 90)], (31, 59)),
        ([(1, 0), (0, 99)], (1, 98)),
        ([(0, 50), (1, 50)], (0, 50)),
    ],
)
def test_it_is_the_longest_one_between_long_cycles_of_any_rank(long, expected):
    compute = np.array([[1.0], [10.0]]) * np.random.default_rng(1).uniform(0.9, 1.1, (2, 100))
    for rank, cycle in long:
        compute[rank, cycle] *= 4  # rank 0 does not get as slow as rank 1 always is
    assert stretch.quiet(compute) == expected


def test_the_import_names_it_in_cycles_of_the_file(spikemark, tmp_path):
    times = np.full((2, 300), 1e-3)
    times[1, 120] = 0.1
    np.save(tmp_path / "times.npy", times)
    words = "import", "cycles", tmp_path / "times.npy", "--unit", "s", "--out", tmp_path / "out"
    _, output, _ = spikemark(*words, "--skip", 20)
    assert "--skip 121 --cycles 179" in " ".join(output.split())
    _, output, _ = spikemark(*words[:-1], tmp_path / "quiet", "--skip", 121)
    assert "Quiet stretch" not in output


def test_nobody_is_named_where_all_cycles_are_long():
    assert stretch.quiet(np.array([[1.0, 1, 9], [9, 1, 1], [1, 9, 1]])) == (0, 0)

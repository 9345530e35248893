"""Latency and bandwidth by pieces: planted pieces are found, intervals cover, bad input is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.models import latency_bandwidth
from spikemark.models.latency_bandwidth import LatencyBandwidth

SIZES = np.array(sorted({4 * 2**k for k in range(15)} | {20 * 2**k for k in range(12)}))
JUMP = [(4, 2e-6, 1e-9), (2048, 9e-6, 3e-10)]  # first size, latency (s), seconds per byte
THREE = [(4, 1e-6, 2e-9), (256, 5e-6, 1e-9), (8192, 30e-6, 2e-10)]


def truth(pieces, sizes) -> np.ndarray:
    firsts = [first for first, _, _ in pieces]
    which = np.searchsorted(firsts, sizes, side="right") - 1
    return np.array([pieces[i][1] + pieces[i][2] * n for i, n in zip(which, sizes, strict=True)])


def measured(pieces, repetitions=5, noise=0.02, drift=0.02, seed=1, sizes=SIZES) -> np.ndarray:
    """[repetition, size]: times with noise of their own, and of their repetition."""
    generator = np.random.default_rng(seed)
    own = generator.normal(0, noise, (repetitions, len(sizes)))
    shared = generator.normal(0, drift, (repetitions, 1))
    return truth(pieces, sizes) * np.exp(own + shared)


@pytest.mark.parametrize("planted", [JUMP[:1], JUMP, THREE])
def test_planted_pieces_are_found_exactly_without_noise(planted):
    fitted = LatencyBandwidth.fit(SIZES, np.tile(truth(planted, SIZES), (3, 1)))
    assert [p.first for p in fitted.pieces] == [first for first, _, _ in planted]
    assert fitted.pieces[0].first == 4 and fitted.pieces[-1].last == 65536
    for piece, (_, alpha, beta) in zip(fitted.pieces, planted, strict=True):
        assert piece.latency_s.value == pytest.approx(alpha, rel=1e-6)
        assert piece.seconds_per_byte.value == pytest.approx(beta, rel=1e-6)


@pytest.mark.parametrize("planted", [JUMP[:1], JUMP, THREE])
def test_planted_ends_are_found_in_noise(planted):
    found = [
        [p.first for p in LatencyBandwidth.fit(SIZES, measured(planted, seed=seed), resamples=2).pieces]
        for seed in range(40)
    ]
    assert np.mean([f == [first for first, _, _ in planted] for f in found]) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("repetitions", [3, *(pytest.param(n, marks=pytest.mark.nightly) for n in (5, 10))])
def test_intervals_cover_the_truth_as_often_as_they_say(repetitions):
    hits, sizes = {"alpha": [], "beta": [], "time": []}, (4, 100, 1024, 4096, 65536, 262144)
    for seed in range(150):
        fitted = LatencyBandwidth.fit(SIZES, measured(JUMP, repetitions, seed=seed), resamples=60)
        for piece, (first, alpha, beta) in zip(fitted.pieces, JUMP, strict=False):
            if piece.first != first:
                continue
            hits["alpha"].append(piece.latency_s.low <= alpha <= piece.latency_s.high)
            hits["beta"].append(piece.seconds_per_byte.low <= beta <= piece.seconds_per_byte.high)
        for size in sizes:
            time = fitted.predict(size)
            hits["time"].append(time.low <= truth(JUMP, [size])[0] <= time.high)
    for name, covered in hits.items():
        assert len(covered) >= 290
        assert 0.9 < np.mean(covered) < 0.995, (name, np.mean(covered))


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 1 << 20), min_size=3, max_size=12, unique=True).map(sorted),
    st.integers(1, 4),
    st.data(),
)
def test_any_times_give_a_curve_that_is_positive_and_does_not_fall_within_a_piece(sizes, repetitions, data):
    times = data.draw(
        st.lists(
            st.lists(st.floats(1e-7, 1), min_size=len(sizes), max_size=len(sizes)),
            min_size=repetitions,
            max_size=repetitions,
        )
    )
    fitted = LatencyBandwidth.fit(sizes, times, resamples=5)
    assert fitted.pieces[0].latency_s.value >= 0
    assert [p.first for p in fitted.pieces] == sorted(p.first for p in fitted.pieces)
    for piece in fitted.pieces:
        assert piece.seconds_per_byte.value >= 0
        assert sum(piece.first <= n <= piece.last for n in sizes) >= latency_bandwidth.FEWEST
    for n in (sizes[0], sizes[-1], 2 * sizes[-1]):
        found = fitted.predict(n)
        assert found.value > 0
        assert repetitions == 1 or found.low <= found.value <= found.high


def test_a_disturbed_repetition_does_not_move_the_curve():
    calm = measured(JUMP)
    disturbed = calm.copy()
    disturbed[np.arange(len(SIZES)) % 5, np.arange(len(SIZES))] *= np.where(np.arange(len(SIZES)) % 3, 1, 300)
    expected, found = (LatencyBandwidth.fit(SIZES, times) for times in (calm, disturbed))
    assert [p.first for p in found.pieces] == [p.first for p in expected.pieces]
    for n in (4, 1000, 65536):
        assert found.predict(n).value == pytest.approx(expected.predict(n).value, rel=0.05)


@pytest.mark.parametrize("wrong", [0, np.nan])
def test_bad_input(wrong):
    with pytest.raises(BadInput, match="times: seconds above 0"):
        LatencyBandwidth.fit([4, 8, 16], [[1, wrong, 1]])
    with pytest.raises(BadInput, match="size="):
        LatencyBandwidth.fit(SIZES, measured(JUMP)).predict(wrong)

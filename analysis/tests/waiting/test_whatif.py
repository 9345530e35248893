"""Every change of the registry against planted truth, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from synthetic import write_run

from spikemark.core.errors import BadInput
from spikemark.models.injected import ar1
from spikemark.waiting import PREDICTORS
from spikemark.waiting.planted import MEAN_S, RANK_EFFECTS_S, RANKS, SD_S
from spikemark.waiting.source import source
from spikemark.waiting.whatif import CHANGES, COMBINED, GIVEN, Situation, meanings, whatif

CYCLES, EXCHANGE_S, OVERHEAD_S = 10_000, 2e-6, 1e-6
JITTER, DRIFT, RARE, SHARE = 1.0, 0.5, 20.0, 0.002
BASE = {
    "effects": RANK_EFFECTS_S, "jitter": JITTER, "window": 1, "rare": RARE, "further": 0, "latency": 1.0,
    "slow": {},
}  # fmt: skip
CHANGED = {
    "halve-jitter": lambda p: {**p, "jitter": p["jitter"] / 2},
    "replace-slowest": lambda p: {**p, "effects": np.append(p["effects"][:-1], p["effects"][:-1].mean())},
    "level-ranks": lambda p: {**p, "effects": 0 * p["effects"]},
    "no-rare-cycles": lambda p: {**p, "rare": 0.0},
    "double-delay-ratio": lambda p: {**p, "window": 2 * p["window"]},
    "halve-latency": lambda p: {**p, "latency": p["latency"] / 2},
    "double-ranks": lambda p: {**p, "further": len(p["effects"])},
    "slow-rank=2:1.05": lambda p: {**p, "slow": {2: 1.05}},
    "slow-rank=2:1.5": lambda p: {**p, "slow": {2: 1.5}},
}
MORE_WAITING = {"double-ranks", "slow-rank=2:1.5"}
SLOW = ("slow-rank=2:1.05", "slow-rank=2:1.5", "double-delay-ratio+slow-rank=2:1.5")
ASKED = (*CHANGES, *COMBINED, *SLOW)
REALISTIC = ("correlated", "replay")


def draw(process, cycles, seed) -> np.ndarray:
    """Further ranks have the effect of any of the others, another in every window."""
    rng = np.random.default_rng(seed)
    effects = np.repeat(process["effects"][:, None], cycles, axis=1)
    if process["further"]:
        windows = rng.choice(process["effects"], (process["further"], cycles // process["window"]))
        effects = np.concatenate([effects, np.repeat(windows, process["window"], axis=1)])
    jitter = process["jitter"] * SD_S * rng.standard_normal(effects.shape)
    drift = np.repeat(ar1(0.8, (len(effects), cycles // 10), rng), 10, axis=1)
    rare = process["rare"] * SD_S * (rng.random(effects.shape) < SHARE)
    times = 2 * MEAN_S + effects + jitter + DRIFT * SD_S * drift + rare
    for rank, factor in process["slow"].items():
        times[rank] *= factor
    return times


def truth(name: str) -> tuple[float, float]:
    """Waiting and run time over the cycles of the base."""
    process = BASE
    for part in name.split("+"):
        process = CHANGED[part](process) if part else process
    times = draw(process, 200_000, 99)
    lumped = times.reshape(len(times), -1, process["window"]).sum(axis=2)
    meetings = CYCLES / process["window"]
    waiting = (lumped.max(axis=0) - lumped.mean(axis=0)).mean() + OVERHEAD_S * process["latency"]
    exchange = EXCHANGE_S * process["latency"]
    return waiting * meetings, times.mean() * CYCLES + (waiting + exchange) * meetings


@pytest.fixture(scope="module")
def base() -> Situation:
    fitted = source(draw(BASE, CYCLES, 1))
    fitted = replace(fitted, overhead_s=np.full(CYCLES, OVERHEAD_S), exchange_s=EXCHANGE_S)
    return Situation(fitted)


@pytest.fixture(scope="module")
def outcomes(base) -> dict:
    return {one.name: one for one in whatif(base, ASKED)}


@pytest.mark.parametrize("name", ASKED)
def test_a_change_gives_what_the_changed_process_waits(outcomes, name):
    waiting, runtime = truth(name)
    found = outcomes[name]
    low, high = found.waiting.interval
    assert low <= waiting <= high
    assert high / low < (1.7 if "double-ranks" in name else 1.2)  # the effects of further ranks are guesses
    assert found.prediction.runtime_s == pytest.approx(runtime, rel=0.02)
    assert found.runtime.value == pytest.approx(found.prediction.runtime_s)
    assert found.runtime.low <= found.runtime.value <= found.runtime.high


@pytest.mark.parametrize("name", [*CHANGES, "slow-rank=2:1.5"])
def test_a_change_moves_in_its_direction(outcomes, name):
    now, then = outcomes["base"].prediction, outcomes[name].prediction
    assert (then.waiting_s > now.waiting_s) == (name in MORE_WAITING)
    assert (then.runtime_s > now.runtime_s) == (name in MORE_WAITING)


def test_the_base_is_what_was_measured(base, outcomes):
    times = base.source.compute
    waiting = (times.max(axis=0) - times.mean(axis=0)).sum() + CYCLES * OVERHEAD_S
    assert outcomes["base"].prediction.waiting_s == pytest.approx(waiting)


@pytest.mark.parametrize("name", PREDICTORS)
def test_twice_the_ranks_are_what_the_predictor_says(base, name):
    (asked,) = whatif(base, ["double-ranks"], name)[1:]
    made = PREDICTORS[name].fit(base.source).predict("conventional", ranks=2 * RANKS)
    assert (asked.prediction, asked.waiting) == (made, made.waiting)


def test_scaling_nothing_changes_nothing(base):
    same = base.scaled(1.0, 1.0, 1.0)
    np.testing.assert_allclose(same.source.compute, base.source.compute, rtol=1e-12)
    assert same.half_s == pytest.approx(0)


def test_beyond_what_was_validated_it_is_refused(base):
    found = whatif(base, ["double-ranks+double-ranks", "double-ranks+double-ranks+double-ranks"])
    assert found[1].prediction.plan.ranks == 4 * RANKS
    assert found[2].prediction is None and "ranks=64: at most 32, 4 times those" in found[2].refused
    three = Situation(source(base.source.compute[:3]))
    assert "needs at least 4" in whatif(three, ["double-ranks"])[1].refused
    refused = whatif(base, ["double-ranks+replace-slowest"])[1].refused
    assert "slowest are known only among the 8 measured ranks" in refused
    few = Situation(source(base.source.compute[:, :100]), "structure_aware", 5)
    assert "needs 200, 20 windows" in whatif(few, ["double-delay-ratio"])[1].refused
    with pytest.raises(BadInput, match=r"change='more': known are halve-jitter.*slow-rank=RANK:FACTOR"):
        whatif(base, ["more"])


@pytest.mark.parametrize(
    "given, reason",
    {
        "8:1.2": "rank=8: allowed are the measured ranks, 0 to 7",
        "-1:1.2": "rank=-1: allowed",
        "1": "'1': RANK:FACTOR is needed, such as 3:1.2",
        "1.5:2": "'1.5:2': RANK:FACTOR",
        "": "'': RANK:FACTOR",
        "0:0.9": "factor=0.9: 1 to 1000 are allowed",
        "0:nan": "factor=nan: 1 to 1000",
        "0:inf": "factor=inf: 1 to 1000",
    }.items(),
)
def test_a_slow_rank_is_one_of_the_measured_ones(base, given, reason):
    assert whatif(base, [f"slow-rank={given}"])[1].refused.startswith(reason)


def test_further_ranks_are_not_drawn_from_slowed_ones(base):
    for name in ("slow-rank=1:1.2+double-ranks", "double-ranks+slow-rank=1:1.2"):
        assert whatif(base, [name])[1].prediction is None
    with pytest.raises(BadInput, match="change='slow-rank': known are"):
        whatif(base, ["slow-rank"])


def test_a_slow_rank_of_no_other_speed_changes_nothing(outcomes, base):
    same = whatif(base, ["slow-rank=3:1"])[1]
    assert same.waiting == outcomes["base"].waiting and same.runtime == outcomes["base"].runtime


def test_the_help_lists_every_change(spikemark):
    status, output, _ = spikemark("whatif", "--help")
    listed = output[output.index("Changes:") :]
    assert status == 0 and all(f"\n  {name} " in listed for name in meanings())
    assert len(meanings()) == len(CHANGES) + len(GIVEN)
    assert CHANGES["halve-latency"].__doc__ in " ".join(listed.split())


def test_on_the_command_line(spikemark, refusal, tmp_path):
    run = str(write_run(tmp_path, ranks=4, cycles=1000, rank_sd=0.05))
    status, output, _ = spikemark("whatif", run, "--json")
    content = json.loads(output)
    assert (
        content["sentence"].startswith("double-delay-ratio helps most") and content["predictor"] == "replay"
    )
    found = content["changes"]
    assert status == 0 and list(found) == ["base", *CHANGES, *COMBINED]
    for name in ("base", "level-ranks"):
        assert list(found[name]) == list(PREDICTORS)
        wanted = {"waiting_s", "runtime_s", "interval", "runtime_interval"}
        assert all(wanted <= set(made) for made in found[name].values())
    for name in REALISTIC:
        assert found["level-ranks"][name]["waiting_s"] < found["base"][name]["waiting_s"]
    status, output, _ = spikemark("whatif", run, "--predictor", "correlated", "--json")
    one = json.loads(output)["changes"]
    assert {name: list(made) for name, made in one.items()} == {name: ["correlated"] for name in found}
    assert one["base"]["correlated"] == found["base"]["correlated"]
    status, output, _ = spikemark("whatif", run, "--change", "halve-jitter+double-delay-ratio")
    assert status == 0 and "halve-jitter+double-delay-ratio" in output and "level" not in output
    assert all(f" {name} " in output for name in PREDICTORS)
    line = refusal("whatif", run, "--change", "double-ranks+double-ranks+double-ranks")
    assert line.startswith("double-ranks+") and "at most 16" in line
    line = refusal("whatif", run, "--change", "slow-rank=4:1.2")
    assert line == "slow-rank=4:1.2: rank=4: allowed are the measured ranks, 0 to 3"
    status, output, _ = spikemark("whatif", run, "--change", "slow-rank=3:1.5")
    assert status == 0 and "slow-rank=3:1.5 costs time: the run takes" in " ".join(output.split())
    line = refusal("whatif", run, "--schedule", "structure_aware", "--delay-ratio", "200")
    assert "needs 4000, 20 windows" in line

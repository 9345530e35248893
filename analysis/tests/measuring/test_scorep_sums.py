"""Files of Score-P whose bytes have changed since the run ended, with and without their check sums."""

import random
import shutil

import fake_scorep
import otf2
import pytest
from synthetic import write_run

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.measuring.scorep import check, files
from spikemark.records import record

CHANGES = 400


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return record.load(write_run(tmp_path_factory.mktemp("run"), ranks=2, cycles=20, rank_sd=0.3))


@pytest.fixture
def measured(run, tmp_path):
    """A folder as `spikemark run --scorep` leaves it."""
    folder = tmp_path / "scorep"
    shutil.copytree(run.path, folder / "record")
    fake_scorep.write(run, folder)
    sha256.write(folder, files(folder))
    return folder


def test_no_changed_byte_is_accepted(measured, refusal):
    """Most of such changes give other times, visits or counts, and some of them hardly other ones."""
    assert check(measured).warnings == []
    rng, parts = random.Random(20), files(measured)
    names = {path.name for path in parts}
    assert {"profile.cubex", "scorep.cfg", "traces.otf2", "traces.def", "0.evt", "1.def"} <= names
    for number in range(CHANGES):
        path = parts[number % len(parts)]
        whole = path.read_bytes()
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(BadInput) as refused:
            check(measured)
        assert str(refused.value) == f"{path}: its bytes have changed since the run ended, by SHA256SUMS"
        path.write_bytes(whole)
    assert check(measured).complaints == []
    path.write_bytes(whole + b"\0")
    assert refusal("scorep", measured).startswith(f"{path}: its bytes have changed")


@pytest.mark.parametrize("name", ["profile.cubex", "scorep.cfg", "traces.otf2", "traces/1.evt"])
def test_what_is_lost_or_new_is_named(measured, refusal, name):
    (measured / name).rename(measured / "record" / "away")
    assert refusal("scorep", measured) == f"{measured / name}: not found; SHA256SUMS lists it"
    (measured / "record" / "away").rename(measured / name)
    shutil.copy(measured / "traces" / "1.evt", measured / "traces" / "9.evt")
    assert refusal("scorep", measured).startswith(f"{measured / 'traces' / '9.evt'}: not in SHA256SUMS")


def test_a_clock_that_runs_backwards_is_refused(measured, refusal):
    """As after a change of one byte of a time, in a trace without check sums."""
    (measured / sha256.NAME).unlink()
    with otf2.reader.open(str(measured / "traces.otf2")) as trace:
        times = [event.time for location, event in trace.events if location.group.name == "MPI Rank 0"]
    path = measured / "traces" / "0.evt"
    later = times[len(times) // 2]
    assert path.read_bytes().count(later.to_bytes(8, "little")) == 1
    changed = (later + (1 << 40)).to_bytes(8, "little")
    path.write_bytes(path.read_bytes().replace(later.to_bytes(8, "little"), changed))
    assert f": the clock of rank 0 runs backwards, from {later + (1 << 40)} to " in refusal(
        "scorep", measured
    )

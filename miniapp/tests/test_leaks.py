"""What is opened is closed, also where a run is refused: the sanitizer finds nothing lost by our sources."""

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

D_TOO_LONG = program.sets(schedule="structure_aware", delay_ratio=20)
UNKNOWN_AREA = program.sets(schedule='[{"name": "one", "from": "nowhere"}, {"name": "all"}]')
FROM_FILE = program.sets(placement=f'{{"name": "from_file", "file": "{program.EXAMPLE}"}}')
GRID_FILE = program.sets(
    exchange=f'{{"far": {{"name": "multi_level", "dimensions": [1, 1], "order": "{program.EXAMPLE}"}}}}'
)
GROUP_OF_P2P = program.sets(schedule="structure_aware", exchange='{"far": {"name": "p2p", "group": 2}}')

# How far a run comes: arguments, and what the one line of the error holds.
REFUSED = {
    "command line": (["--fast"], "--fast: unexpected"),
    "file": (["absent.json"], "absent.json"),
    "override": (program.sets(network__populations__7__size=1), "allowed: an item from"),
    "top level": (program.sets(tiem=1), "tiem: unknown field"),
    "record": (program.sets(record__counters='["joy"]'), "record.counters.0"),
    "population": (program.sets(network__populations__1__size=-3), "network.populations.1.size"),
    "weights": (program.sets(network__projections__0__weight='{"mean": 1, "sd": 9}'), "weight.sd"),
    "delay": (program.sets(network__projections__1__delay__min=0.001), "delay.min"),
    "neuron": (program.sets(network__populations__0__neuron__rate_hz=-1), "rate_hz"),
    "placement": (program.sets(placement="far"), "placement"),
    "placement file": (FROM_FILE, "placement.file: kind"),
    "schedule": (D_TOO_LONG, "delay_ratio: 20"),
    "lane": (UNKNOWN_AREA, "schedule.0.from"),
    "exchange": (GROUP_OF_P2P, "group"),
    "exchange file": (GRID_FILE, "order: kind"),
    "counters": (["--require-counters"], "--require-counters"),
    "compute times": (["--compute-times", "times.npy"], "--compute-times"),
    "progress": (["--progress", "there"], "--progress"),
    "directory": (["--out", "taken"], "--out"),
}


def started(place, *arguments):
    """A run of the build with checks. Where the system forbids looking for leaks (under ptrace), without."""
    how = {"program": program.CHECKED, "cwd": place}
    done = program.start(*arguments, ASAN_OPTIONS=program.LEAKS, **how)
    if "LeakSanitizer has encountered a fatal error" in done.stderr:
        done = program.start(*arguments, ASAN_OPTIONS="exitcode=0:detect_leaks=0", **how)
    return done


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_run_loses_nothing(case, tmp_path):
    arguments, message = REFUSED[case]
    (tmp_path / "there").touch()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes").touch()
    np.save(tmp_path / "times.npy", np.zeros((1, 1, 3), np.float32))
    description = [] if case == "file" else [program.EXAMPLE]
    done = started(tmp_path, *description, "--out", "run", *arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr.splitlines()[0]
    assert program.leaks(done.stderr) == []


@pytest.mark.parametrize("more", [[], D_TOO_LONG], ids=["accepted", "refused"])
def test_explain_loses_nothing(more, tmp_path):
    done = started(tmp_path, "--explain", program.EXAMPLE, *more)
    assert done.returncode == (2 if more else 0), done.stderr
    assert program.leaks(done.stderr) == []


REPORT = """Direct leak of 8 byte(s) in 1 object(s) allocated from:
    #0 0x1 in malloc x
    #1 0x1 in take ({})
    #2 0x1 in f {}/a.c:1
    #9 0x1 in main /miniapp/src/app/main.c:1
"""


def test_a_loss_would_be_noticed():
    assert len(program.leaks(REPORT.format("lib/libjansson.so", "/miniapp/src"))) == 1
    assert program.leaks(REPORT.format("lib/libmpi.so.40", "/miniapp/src")) == []
    assert program.leaks(REPORT.format("lib/libc.so.6", "/other")) == []

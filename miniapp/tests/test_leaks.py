"""What is opened is closed, also where a run is refused: the sanitizer finds nothing lost by our sources."""

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

UNKNOWN_AREA = program.sets(schedule='[{"name": "one", "from": "nowhere"}, {"name": "all"}]')
FROM_FILE = program.sets(placement=f'{{"name": "from_file", "file": "{program.EXAMPLE}"}}')
GRID_FILE = program.sets(
    exchange=f'{{"far": {{"name": "multi_level", "dimensions": [1, 1], "order": "{program.EXAMPLE}"}}}}'
)

# Runs that are refused, from the earliest to the latest.
REFUSED = {
    "file": ["absent.json"],
    "override": program.sets(network__populations__7__size=1),
    "top level": program.sets(tiem=1),
    "weights": program.sets(network__projections__0__weight='{"mean": 1, "sd": 9}'),
    "delay": program.sets(network__projections__1__delay__min=0.001),
    "placement file": FROM_FILE,
    "schedule": program.sets(schedule="structure_aware", delay_ratio=20),
    "lane": UNKNOWN_AREA,
    "exchange file": GRID_FILE,
    "counters": ["--require-counters"],
    "progress": ["--progress", "there"],
    "directory": ["--out", "taken"],
    "explained": ["--explain"],
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
    (tmp_path / "there").touch()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes").touch()
    np.save(tmp_path / "times.npy", np.zeros((1, 1, 3), np.float32))
    description = [] if case == "file" else [program.EXAMPLE]
    out = [] if case == "explained" else ["--out", "run"]
    done = started(tmp_path, *description, *out, *REFUSED[case])
    assert done.returncode == (0 if case == "explained" else 2), done.stderr
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

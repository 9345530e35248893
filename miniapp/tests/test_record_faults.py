"""A record that cannot be written, or not to its end: it is absent or whole, and the reason is named."""

import json
import shutil
import signal

import program
import pytest

from spikemark.documents.faults.interposed import Fault

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("exchange", [True, False])
def test_a_run_that_dies_while_it_replaces_another_leaves_a_whole_record(tmp_path, exchange):
    """Where names can be traded, a record is in its place at any time; elsewhere, one lies beside it."""
    out, died = tmp_path / "run", set()
    plain = {} if exchange else {"SPIKEMARK_NO_EXCHANGE": "1"}
    for call in range(1, 40):
        shutil.rmtree(tmp_path)
        program.record_of(out, *program.sets(seed=1))
        how = plain | Fault("kill", str(tmp_path), call, calls=("rename", "remove")).environment()
        done = program.start(program.EXAMPLE, "--out", out, *program.sets(seed=2), **how)
        found = [json.loads(path.read_text()) for path in tmp_path.glob("*/record.json")]
        assert all(record["status"] == "complete" for record in found)
        assert {record["description"]["seed"] for record in found} <= {1, 2} and found
        assert (out / "record.json").is_file() or not exchange
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        died.add(tuple(sorted(record["description"]["seed"] for record in found)))
    assert done.returncode == 0 and (1, 2) in died, "it died once while both were there"


@pytest.mark.parametrize("name", ["record.json", "ranks.csv", "cycles.npy"])
def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path, name):
    read_only = Fault("EROFS", f"/{name}", calls=("open",)).environment()
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", **read_only)
    assert done.returncode != 0 and list(tmp_path.iterdir()) == []
    assert done.stderr == f"miniapp: --out: {tmp_path / 'run' / name}: Read-only file system\n"


@pytest.mark.parametrize("call", ["write", "fsync", "close"])
@pytest.mark.parametrize("name", ["record.json", "ranks.csv", "cycles.npy"])
def test_a_file_that_is_not_written_says_why(tmp_path, name, call):
    for error, why in ("EIO", "Input/output error"), ("EDQUOT", "Disk quota exceeded"):
        failing = Fault(error, f"/{name}", calls=(call,)).environment()
        done = program.start(program.EXAMPLE, "--out", tmp_path / "run", **failing)
        assert done.returncode != 0 and list(tmp_path.iterdir()) == []
        assert done.stderr == f"miniapp: --out: {name}: not written: {why}\n"

"""The programs as they are started, and what is read from them."""

import json

import pytest
from fake_peers import figures
from stand_in import script
from synthetic import write_run

from spikemark.bench.peers import programs
from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.running.measure import RunFailed

MINIAPP, *NEST = programs.PROGRAMS


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An environment of the peers that is complete."""
    script(tmp_path / "peers" / "bin" / "python", "")
    (tmp_path / "peers" / "complete").write_text("123abc  -\n")
    monkeypatch.setattr(programs, "ENVIRONMENT", str(tmp_path / "peers"))
    return tmp_path / "peers"


def test_the_reference_comes_first_and_names_are_unique():
    assert MINIAPP.name == programs.REFERENCE
    assert len({program.name for program in programs.PROGRAMS}) == len(programs.PROGRAMS)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.name)
def test_every_program_gets_the_description_and_its_threads(program, environment, tmp_path, monkeypatch):
    monkeypatch.setenv("SPIKEMARK_MINIAPP", str(environment / "bin" / "python"))
    monkeypatch.setattr(launch, "available_cores", lambda: 4)
    (tmp_path / "run.json").write_text('{"time": {"simulate_ms": 20}}')
    start = program.start(tmp_path / "run.json", tmp_path, 2)
    assert str(tmp_path / "run.json") in start.command
    assert (f"time.simulate_ms={20 * programs.LONGER}" in start.command) == (program is MINIAPP)
    assert start.environment["OMP_NUM_THREADS"] == "2"
    assert start.environment["OMP_PROC_BIND"] == "close"  # the same binding for all
    assert program.identity


@pytest.mark.parametrize("program", NEST, ids=lambda p: p.name)
def test_nest_runs_in_its_own_environment(program, environment, tmp_path):
    command = program.start(tmp_path / "run.json", tmp_path, 2).command
    assert command[0] == str(environment / "bin" / "python")
    assert command[1] == str(places.root() / "workflows" / "peers" / "nest_network.py")
    assert command[-4:] == ["--model", program.model, "--threads", "2"]


@pytest.mark.parametrize("program", NEST, ids=lambda p: p.name)
@pytest.mark.parametrize("state", ["absent", "interrupted"])
def test_without_the_environment_one_line_says_how_to_get_it(program, environment, state):
    (environment / "complete").unlink()
    if state == "absent":
        (environment / "bin" / "python").unlink()
    with pytest.raises(BadInput, match=r"workflows/peers/install\.sh or `make peers`"):
        _ = program.identity


def test_another_environment_or_model_is_another_program(environment):
    before = {program.identity for program in NEST}
    assert len(before) == len(NEST)
    (environment / "complete").write_text("456def  -\n")
    assert before.isdisjoint(program.identity for program in NEST)


def test_the_record_of_the_miniapp_in_common_terms(tmp_path):
    write_run(tmp_path / "record", ranks=1, threads=2)
    raw, found = MINIAPP.read("", tmp_path)
    assert raw == json.loads((tmp_path / "record" / "record.json").read_text())
    totals, timing = raw["totals"], raw["timing"]
    assert (found.threads, found.ranks) == (2, 1)
    assert found.synaptic_events == totals["synaptic_events"]
    assert (found.simulate_s, found.build_s) == (timing["simulate_s"], timing["build_s"])
    assert found.mean_rate_hz == pytest.approx(totals["spikes"] / totals["neurons"] / timing["model_s"])
    assert found.peak_bytes == raw["memory"]["peak_bytes"]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"format_version": 1}'])
def test_no_valid_record_is_a_failure(tmp_path, content):
    if content is not None:
        (tmp_path / "record").mkdir()
        (tmp_path / "record" / "record.json").write_text(content)
    with pytest.raises(RunFailed, match="no valid record"):
        MINIAPP.read("", tmp_path)


def test_the_last_line_of_nest_counts(tmp_path):
    raw, found = NEST[0].read(f"a banner\n{json.dumps(figures(synaptic_events=None))}\n", tmp_path)
    assert raw["spikes"] == found.spikes == 200
    assert found.synaptic_events is None


@pytest.mark.parametrize("output", ["", "banner", "{}", json.dumps(figures(simulate_s="1"))])
def test_no_valid_line_is_a_failure(tmp_path, output):
    with pytest.raises(RunFailed, match="no valid result"):
        NEST[0].read(output, tmp_path)

"""The run that is proposed next can be made: it fits, takes ten minutes, and has a command."""

import re
import shlex

import numpy as np
import pytest
from published_networks import multi_area_model

from spikemark import machines
from spikemark.machines import identity
from spikemark.machines.profile import Profile, Value
from spikemark.prediction import narrowing
from spikemark.prediction.narrowing import RUN_S, RatioTerm, next_step
from spikemark.prediction.production import anchored, fits


def offers(*memories_gb, slower=1.0):
    """Machines like JURECA-DC with so much memory, on cores that are slower."""
    stated = machines.load("jureca-dc").values
    clock = stated["node.clock"].value / slower
    profiles = []
    for number, memory_gb in enumerate(memories_gb):
        changed = {
            "node.memory": Value(memory_gb, "GB", "literature", "a test"),
            "node.clock": Value(clock, "GHz", "literature", "a test"),
            "node.clock_turbo": Value(clock, "GHz", "literature", "a test"),
        }
        profiles.append(Profile(f"offer-{number}", "An offer", {**stated, **changed}))
    return identity.sharing_draws([machines.filled(profile) for profile in profiles])


def best(profile, nodes=16):
    return anchored(multi_area_model(), profile, "nest", nodes=nodes).best


def proposed_nodes(lines):
    """The numbers of nodes in the commands of lines, each of which has one at most."""
    numbers = []
    for line in lines:
        commands = re.findall(r"spikemark anchor .*", line)
        assert line.count("spikemark anchor") == len(commands) <= 1
        for command in commands:
            words = shlex.split(command)
            numbers.append(int(words[words.index("--nodes") + 1]))
    return numbers


@pytest.mark.parametrize("memory_gb", [16, 64, 1024])
def test_the_run_that_is_proposed_fits_and_takes_ten_minutes(memory_gb):
    [profile] = offers(memory_gb)
    option = best(profile)
    lines = next_step([RatioTerm(option)], option.rtf, option.inputs)
    [nodes] = proposed_nodes(lines)
    run = option.run.with_nodes(nodes)
    assert fits(run, profile) is not False
    time = option.question.known.time
    there = anchored(multi_area_model(), profile, "nest", nodes=nodes).best
    assert there.median * 1e-3 * (time.simulate_ms + time.warmup_ms) <= RUN_S * 1.01


def test_slow_nodes_are_asked_for_more_of_them_or_for_nothing():
    [usual], [slow] = offers(4096), offers(4096, slower=4.0)
    possible = [best(profile).nodes_for_run(RUN_S) for profile in (usual, slow)]
    assert possible[0][0] < possible[1][0]
    option = best(slow)
    assert option.nodes_for_run(1e-6) == []


def test_nothing_is_proposed_where_nothing_can_be_run(monkeypatch):
    [profile] = offers(1024)
    option = best(profile)
    assert next_step([RatioTerm(option)], option.rtf, option.inputs)
    monkeypatch.setattr(narrowing, "RUN_S", 1e-6)
    assert next_step([RatioTerm(option)], option.rtf, option.inputs) == []


def test_runs_on_two_machines_have_a_line_each():
    """Only runs on both narrow a ratio to which both machines contribute as much."""
    options = [best(profile) for profile in offers(32, 2048)]
    sides = [RatioTerm(options[0]), RatioTerm(options[1], power=-1)]
    narrowed = narrowing._by_runs_on_each(sides, [16, 1], options[0].rtf / options[1].rtf)
    assert len(narrowed.commands) == 2 and np.all(narrowed.result > 0)
    assert proposed_nodes(narrowed.commands) == [16, 1]

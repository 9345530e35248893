"""Random networks in random layouts: a slice of the fuzzer, and what it would say of a fault."""

import json
import random

import drawn
import layouts
import pytest
from layouts import Case


@pytest.fixture(scope="module")
def known():
    return layouts.registries()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "seed"),
    [(layouts.PLAIN, 1), pytest.param(layouts.CHECKED, 2, marks=pytest.mark.nightly)],
)
def test_the_same_comes_out_however_a_network_is_run(tmp_path, known, program, seed):
    tally = layouts.round_of(
        seed, tmp_path, known, networks=3, each=1, ranks=(1, 2, 5), program=program
    )
    assert tally.findings == []
    assert tally.ran > 8
    assert tally.ran > sum(tally.refused.values()) / 2


def test_layouts_use_every_name_that_is_registered(known):
    rng = random.Random(1)
    networks = [drawn.network(rng, [m["name"] for m in known["neuron_models"]]) for _ in range(30)]
    seen, models = set(), set()
    for network in networks:
        models |= {p["neuron"]["model"] for p in network["network"]["populations"]}
    for ranks in (1, 4):
        for case in layouts.cases(rng, known, networks, ranks, 4):
            seen |= set(case.names)
    present = {x["name"] for x in known["exchanges"] if not x["absent"]}
    others = {one["name"] for kind in ("placements", "schedules", "wires") for one in known[kind]}
    assert present | others | {"lanes"} <= seen
    assert models == {m["name"] for m in known["neuron_models"]}


OUTCOME = dict.fromkeys((*layouts.SAME, "first_accesses"), 7)


def compared(*outcomes: dict) -> list[str]:
    """What is found in runs of one network and group, for which brute force has OUTCOME."""
    names = {"exchange": "self", "placement": "area", "schedule": [], "wire": "compact"}
    todo = [Case(0, {"seed": number} | names, 1, "one") for number in range(len(outcomes))]
    return layouts.compare(todo, list(outcomes), {0: OUTCOME}, 2).findings


def test_another_count_and_a_refusal_that_does_not_say_what_is_expected_are_findings():
    assert compared(OUTCOME) == [] == compared({"refused": "lag: 3; expected: 2"})
    for name in layouts.SAME:
        (finding,) = compared(OUTCOME, OUTCOME | {name: 8})
        assert "differs from brute force" in finding and f"'{name}': (8, 7)" in finding
        assert json.loads(finding.split("ranks: ")[1])["run"]["seed"] == 1  # it can be run again
    for line in ("", "lag: 3", "lag: 3;\nexpected: 2"):
        assert len(compared({"refused": line})) == 1


@pytest.mark.slow
def test_a_run_that_dies_is_a_finding_and_the_others_go_on(tmp_path, known):
    """The number of lines says which case it was."""
    rng = random.Random(5)
    network = drawn.network(rng, ["ignore_and_fire"])
    program = tmp_path / "dies"
    program.write_text(
        "#!/bin/sh\nread -r line < $1\ncase $line in *dies*) echo '{\"spikes\": 1}'; kill -9 $$;;"
        " esac\n"
    )
    program.chmod(0o755)
    found, why = layouts.run(
        program, 1, [Case(0, network, 1), Case(0, network | {"x": "dies"}, 1)], tmp_path
    )
    assert found == [{"spikes": 1}]
    assert why.startswith("exit status ")

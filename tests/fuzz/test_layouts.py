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
@pytest.mark.parametrize(("program", "seed"), [(layouts.PLAIN, 1), (layouts.CHECKED, 2)])
def test_the_same_comes_out_however_a_network_is_run(tmp_path, known, program, seed):
    tally = layouts.round_of(seed, tmp_path, known, networks=2, each=1, ranks=(1, 2, 5), program=program)
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
            seen |= set(layouts._names(case.run))
    present = {x["name"] for x in known["exchanges"] if not x["absent"]}
    others = {one["name"] for kind in ("placements", "schedules", "wires") for one in known[kind]}
    assert present | others | {"lanes"} <= seen
    assert models == {m["name"] for m in known["neuron_models"]}


def test_every_rule_is_for_a_registered_name(known):
    assert set(layouts.EXCHANGES) <= {x["name"] for x in known["exchanges"]}
    assert set(layouts.PLACEMENTS) <= {p["name"] for p in known["placements"]}


OUTCOME = dict.fromkeys((*layouts.SAME, "first_accesses"), 7)


def compared(*outcomes: dict) -> list[str]:
    """What is found in runs of one network and group, for which brute force has OUTCOME."""
    names = {"exchange": "self", "placement": "area", "schedule": [], "wire": "compact"}
    todo = [Case(0, {"seed": number} | names, 1, "one") for number in range(len(outcomes))]
    return layouts.compare(todo, list(outcomes), {0: OUTCOME}, 2).findings


@pytest.mark.parametrize("name", layouts.SAME)
def test_another_count_is_a_finding(name):
    assert compared(OUTCOME) == []
    (finding,) = compared(OUTCOME, OUTCOME | {name: 8})
    assert "differs from brute force" in finding and f"'{name}': (8, 7)" in finding
    assert json.loads(finding.split("ranks: ")[1])["run"]["seed"] == 1  # it can be run again


def test_first_accesses_of_a_group_are_equal():
    (finding,) = compared(OUTCOME, OUTCOME | {"first_accesses": 8})
    assert finding.startswith("first accesses 7 and 8: on 2 ranks")


def test_placements_in_files_of_one_name_are_of_one_group_where_their_content_is_equal(known):
    network = {"network": {"populations": [{"size": 40, "area": "a"}]}}
    only = known | {"placements": [p for p in known["placements"] if p["name"] == "from_file"]}
    contents = {}
    for case in layouts.cases(random.Random(3), only, [network], 3, 200):
        name = case.run["placement"]["file"]
        contents.setdefault(case.group, []).append(json.dumps(case.files[name]))
    assert max(map(len, contents.values())) >= 3
    assert all(len(set(found)) == 1 for found in contents.values())


def test_a_refusal_is_one_line_that_says_what_is_allowed():
    assert compared({"refused": "lag: 3; allowed: 2"}) == []
    for line in ("", "lag: 3", "lag: 3;\nallowed: 2"):
        assert len(compared({"refused": line})) == 1


@pytest.mark.slow
def test_a_run_that_dies_is_a_finding_and_the_others_go_on(tmp_path, known):
    """The number of lines says which case it was."""
    rng = random.Random(5)
    network = drawn.network(rng, ["ignore_and_fire"])
    program = tmp_path / "dies"
    program.write_text(
        "#!/bin/sh\nread -r line < $1\ncase $line in *dies*) echo '{\"spikes\": 1}'; kill -9 $$;; esac\n"
    )
    program.chmod(0o755)
    found, why = layouts.run(program, 1, [Case(0, network, 1), Case(0, network | {"x": "dies"}, 1)], tmp_path)
    assert found == [{"spikes": 1}]
    assert why.startswith("exit status ")

"""Predictions from measured runs: planted truth, shared errors, what is refused, what one more run
brings.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from spikemark.core.errors import BadInput
from spikemark.prediction import (
    anchor_run,
    anchors,
    draws,
    effects,
    points,
    program_costs,
    spread_fit,
)
from spikemark.prediction.points import PublishedNetwork, PublishedRun
from spikemark.prediction.published_machine import PublishedMachine

SERVER = PublishedMachine("server", clock_ghz=2.25, l3_kib=4096, l3_cores=1, cores=128)
OTHER = replace(SERVER, name="other")
NETWORK = PublishedNetwork("multi-area-model", "ground-state", 4.13e6, 2.41e10, 2.41, delay_ms=20.0)


def run(nodes, machine=SERVER, network=NETWORK, **more):
    return PublishedRun("nest", "3.9", network, machine, nodes, 2 * nodes, 64, **more)


def planted(nodes, kernel=1.0, exchange=1.0, **more):
    """Runs whose times follow the model exactly, with multipliers of their own."""
    costs = effects.spreads().costs["nest"]
    return [
        replace(one, seconds=float(anchors.parts(one, costs) @ [kernel, exchange]))
        for one in (run(n, **more) for n in nodes)
    ]


def alone(targets, known):
    """Predicted from these runs only."""
    return anchors.predicted(targets, known, effects.spreads())


def width(made):
    """Upper over lower end of the interval of the first target."""
    _, low, high = draws.interval(made.total[0])
    return high / low


@pytest.mark.parametrize(("kernel", "exchange"), [(1.0, 1.0), (0.6, 1.5), (1.6, 0.7)])
def test_planted_multipliers_are_found_again(kernel, exchange):
    known = planted([1, 4, 16, 64], kernel, exchange)
    true = planted([2, 8, 32], kernel, exchange)
    made = alone([run(n) for n in (2, 8, 32)], known)
    low, middle, high = np.quantile(made.total, [0.025, 0.5, 0.975], axis=1)
    seconds = np.array([one.seconds for one in true])
    assert np.all(abs(middle / seconds - 1) < 0.1)
    assert np.all((low < seconds) & (seconds < high))


@pytest.mark.parametrize("family", ["nest", "dpsnn", "a new program"])
def test_time_grows_with_work_and_falls_with_cores(family):
    costs = program_costs.find(family).guesses

    def kernel(**changed):
        one = run(4, network=replace(NETWORK, **changed))
        return anchors.parts(replace(one, program=family), costs)[0]

    base = kernel()
    assert (
        kernel(rate_hz=5.0) > base and kernel(synapses=4e10) > base and kernel(neurons=8e6) > base
    )
    more = anchors.parts(replace(run(8), program=family), costs)
    assert more[0] < base


def test_what_differs_widens_the_interval_and_what_is_shared_narrows_it():
    known = planted([4, 8, 16], machine=replace(SERVER, processor="X"))
    version, board = replace(run(8, known[0].machine), version="9.9"), replace(OTHER, platform=True)
    asked = [run(8, known[0].machine), version, run(8, OTHER), run(8, board)]
    same, version, machine, board = (alone([one], known) for one in asked)
    widths = [width(made) for made in (same, version, machine, board)]
    assert widths == sorted(widths) and widths[0] < 1.6 and widths[3] > 2 * widths[2]
    twin = alone([run(8, replace(OTHER, processor="X"))], known)
    assert np.log(twin.kernel[0]).std() < 0.7 * np.log(machine.kernel[0]).std()
    many = alone([run(16, OTHER)], known)  # a ratio is more certain than its parts
    ratio, apart = (
        np.log(machine.total[0] / many.total[0]),
        np.log(machine.total[0]).std() * np.sqrt(2),
    )
    assert ratio.std() < 0.4 * apart and machine.inputs.keys() & many.inputs.keys()
    assert (
        next(iter(draws.shares(machine.total[0], machine.inputs))) == "error/kernel/machine/other"
    )


def test_nearest_run_and_what_differs():
    known = planted([4, 8, 16])
    made = alone([run(8)], known)
    assert made.nearest[0].nodes == 8 and made.differs[0] == ()
    other = alone([run(12, OTHER)], known)
    assert set(other.differs[0]) == {"machine", "nodes"}


def test_more_runs_narrow():
    asked = [run(32, OTHER)]
    made = [(), [asked[0].with_nodes(1)], [asked[0].with_nodes(4), asked[0].with_nodes(16)]]
    now, one, two = (width(anchors.predict(asked, more=more)) for more in made)
    assert now > one > two > 1
    here, elsewhere = planted([4], machine=OTHER), planted([8, 16])
    both, *single = (
        width(alone([run(16, OTHER)], of)) for of in ([*here, *elsewhere], here, elsewhere)
    )
    assert both < min(single)


def test_runs_of_another_network_on_the_machine_show_how_it_grows():
    """The network was run on one core elsewhere, and another network on many nodes of the
    machine.
    """
    little = [replace(one, ranks=1, threads=1) for one in planted([1], machine=OTHER)]
    another = replace(NETWORK, model="another")
    few, many = (planted(nodes, network=another) for nodes in ([1], [1, 8, 32]))
    asked = [run(32)]
    assert width(alone(asked, [*little, *many])) < 0.5 * width(alone(asked, [*little, *few]))


def test_without_any_anchor_the_run_to_make_is_named():
    strange = run(8, OTHER, replace(NETWORK, model="unheard of"))
    for asked in (strange, replace(run(8), program="unknown")):
        with pytest.raises(BadInput) as error:
            anchors.predict([asked])
        assert error.value.field == "program" and asked.machine.name in str(error.value)
    for seconds in (50.0, 1e4):  # of a simulator without costs, only growth is known
        own = [replace(run(2), program="unknown", seconds=seconds)]
        made = anchors.predict([replace(run(4), program="unknown")], own=own)
        assert 0.3 < np.median(made.total[0]) / seconds < 0.9


def test_a_question_without_version_means_the_newest():
    assert anchors._newest(points.published()) == "3.9"
    asked = replace(run(8), version="")
    own = planted([4], machine=OTHER)
    assert anchors.predict([replace(asked, machine=OTHER)], own=own).differs[0] == ("nodes",)


def test_spreads_of_planted_effects_are_found():
    rng = np.random.default_rng(3)
    known = []
    for i in range(12):
        machine, scale = replace(SERVER, name=f"machine {i}"), np.exp(0.5 * rng.standard_normal())
        known += [
            replace(r, series=machine.name) for r in planted([2, 8, 32], scale, machine=machine)
        ]
    found = spread_fit.fit_spreads(tuple(known)).known
    assert 0.3 < found["kernel", "machine", "any"][0] < 0.75
    assert found["kernel", "version", "nest"][0] < 0.25


@pytest.mark.parametrize(
    ("columns", "rows", "field"),
    [
        ("", "1,2,3", "real_time_factor"),
        (",real_time_factor", "", "runs"),
        (",real_time_factor", "1,2,x,3", "threads"),
        (",real_time_factor", "1,2,1.5,3", "threads"),
        (",real_time_factor", "1,2,3,nan", "real_time_factor"),
        (",real_time_factor,communicate", "1,2,3,4,-1", "communicate"),
    ],
)
def test_tables_of_runs_are_checked(tmp_path, columns, rows, field):
    (tmp_path / "runs.csv").write_text(f"nodes,ranks,threads{columns}\n{rows}\n")
    with pytest.raises(BadInput) as error:
        points.own_runs(tmp_path / "runs.csv", run(1))
    assert error.value.field == field


def test_runs_are_read_with_their_communication(tmp_path):
    head = "nodes,ranks,threads,real_time_factor,communicate"
    (tmp_path / "runs.csv").write_text(f"{head}\n2,4,64,9.5,1.5\n1,2,64,20,\n")
    found = points.own_runs(tmp_path / "runs.csv", run(1, OTHER))
    read = [(one.nodes, one.seconds, one.part) for one in found]
    assert read == [(2, 9.5, ""), (2, 1.5, "exchange"), (1, 20, "")]
    assert [row.nodes for row in anchor_run.predictions(found, [4])] == [2, 4]


def test_the_folder_for_a_machine_is_complete(tmp_path):
    scripts = points.Path(__file__).parents[3] / "workflows/peers"
    neuron = {"model": "ignore_and_fire", "rate_hz": 2.5}
    description = {"network": {"populations": [{"name": "a", "size": 10, "neuron": neuron}]}}
    made = anchor_run.write(tmp_path / "out", description, [run(1), run(2)], scripts)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(made)
    assert (tmp_path / "out/run.sh").read_text().count("nest_network.py") == 2
    with (tmp_path / "out/runs.csv").open("a") as file:
        file.write("1,2,64,3.5,\n")
    with pytest.raises(BadInput):
        anchor_run.write(tmp_path / "out", description, [run(1)], scripts)
    neuron["model"] = "lif_sfa"
    with pytest.raises(BadInput):
        anchor_run.write(tmp_path / "new", description, [run(1)], scripts)
    assert not (tmp_path / "new").exists()


def test_the_command_writes_a_folder_and_reads_its_runs(tmp_path, spikemark):
    asked = [
        "anchor",
        "mam-benchmark",
        "--option",
        "areas=2",
        "--machine",
        "epyc-vm",
    ]
    layout = ["--ranks", 1, "--threads", 1]
    assert spikemark(*asked, *layout, "--out", tmp_path / "new")[0] == 0
    table, kept = tmp_path / "new/runs.csv", tmp_path / "predictions.json"
    table.write_text(table.read_text() + "1,1,1,6.8,\n1,1,2,3.3,0.2\n")
    status, output, _ = spikemark(
        *asked, "--runs", table, "--keep", kept, "--nodes", "2,4", "--json"
    )
    assert status == 0 and output.count("predicted") >= 3
    status, output, _ = spikemark("score", table, kept, "--json")
    assert status == 0 and json.loads(output)["predictions"][0]["measured"] == pytest.approx(3.3)


@pytest.mark.parametrize(
    "words",
    [
        ["anchor", "mam-benchmark", "--machine", "epyc-vm"],
        ["score", "missing.csv"],
        ["anchor", "mam-benchmark", "--machine", "nowhere", "--out", "new"],
    ],
)
def test_bad_commands_end_with_status_2(words, tmp_path, monkeypatch, spikemark):
    monkeypatch.chdir(tmp_path)
    status, _, error = spikemark(*words)
    assert status == 2 and error.count("\n") == 1 and not list(tmp_path.iterdir())


def test_costs_are_learnt_from_machines_with_published_runs_alone():
    run = next(run for run in points.published() if run.program == "dpsnn")
    offered = replace(run.machine, node_as="a node", network_as="a network", known_as="an offer")
    with pytest.raises(ValueError, match="an offer"):
        spread_fit.fit_spreads((run, replace(run, machine=offered)))


def predicted_from_small_runs(monkeypatch):
    """Of networks that were measured on several numbers of cores, the large runs, predicted from
    the small ones and from all other networks: (low, high, measured), in logarithms.
    """
    nest = [run for run in points.published() if run.program == "nest"]
    for model in sorted({run.network.model for run in nest}):
        sizes = sorted({run.cores for run in nest if run.network.model == model and not run.part})
        for largest in {sizes[0], sizes[len(sizes) // 3]}:
            small = [run for run in nest if run.network.model != model or run.cores < 2 * largest]
            monkeypatch.setattr(anchors, "published", lambda known=small: known)
            for run in nest:
                if run in small or run.part:
                    continue
                logs = np.log(anchors.predict([run]).total[0])
                yield *np.quantile(logs, [0.025, 0.975]), np.log(run.seconds)


def test_small_runs_of_a_network_tell_how_large_ones_grow_and_how_sure_that_is(monkeypatch):
    """Without a limit on what growth leaves open, the widest interval was 76-fold, for no gain."""
    low, high, measured = np.array([*predicted_from_small_runs(monkeypatch)]).T
    assert len(measured) > 100
    inside = (low <= measured) & (measured <= high)
    assert 0.95 <= inside.mean() < 1
    assert (high - low).max() < np.log(20)


@pytest.mark.parametrize("degrees", [effects.FREEDOM, 13.5, 20.0, 100.0, 1e4])
def test_tails_are_those_of_student(degrees):
    expected = special.stdtrit(degrees, 0.975) / special.ndtri(0.975)
    assert effects.student_over_normal(degrees) == pytest.approx(expected, rel=1e-5)

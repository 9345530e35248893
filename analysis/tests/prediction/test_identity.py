"""Who a machine is: a field says it, and neither the name of a file nor a title."""

import json
from dataclasses import replace

import numpy as np
import pytest
import yaml
from leaves import leaf
from published_networks import multi_area_model

import spikemark
from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import identity
from spikemark.prediction import production, programs, question, search
from spikemark.prediction.published_machine import machine_of

PROFILES = [name for name in machines.names() if machines.load(name).get("node.cores")]
CALIBRATED = [name for name in PROFILES if "kernels.full_node.t_next" in machines.load(name).values]
SMALL = question.of_preset(
    "mam-benchmark", options=["areas=2", "neurons_per_area=2000", "indegree=100"]
).way(schedule="conventional", placement="round_robin")


def renamed(name, folder, title="Another machine"):
    """The profile of a machine from a file of another name, with another title."""
    content = yaml.safe_load((machines.folder() / f"{name}.yaml").read_text())
    content |= {"name": "another", "title": title}
    path = folder / "another.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True))
    return machines.load(path)


def written(folder, **changed):
    """The file of an offer with the data of JURECA-DC."""
    content = yaml.safe_load((machines.folder() / "jureca-dc.yaml").read_text())
    content |= {"name": "offer", "title": "An offer"} | changed
    path = folder / "offer.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in content.items() if value}))
    return path


def nest(profile):
    """Draws of the time of NEST on 8 nodes."""
    network, machine = multi_area_model(), machines.filled(profile)
    return production.anchored(network, machine, "nest", nodes=8).best.rtf


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_other_names_and_titles_change_no_number(name, tmp_path):
    profile, other = machines.load(name), renamed(name, tmp_path)
    assert other.name != profile.name
    assert np.array_equal(nest(profile), nest(other))
    ways = [search.mini_app(SMALL, machines.filled(p), nodes=1).best for p in (profile, other)]
    assert np.array_equal(ways[0].rtf, ways[1].rtf)


def test_a_title_of_a_known_cluster_narrows_nothing(tmp_path):
    offers = [
        machines.load(written(tmp_path, measured_as=None, processor=None, title=title))
        for title in ("An offer", machines.load("jureca-dc").title)
    ]
    assert np.array_equal(nest(offers[0]), nest(offers[1]))
    measured = nest(machines.load("jureca-dc"))
    assert np.log(measured).std() < 0.6 * np.log(nest(offers[1])).std()


def test_calibrated_machines_are_as_many_machines():
    assert len(CALIBRATED) >= 5
    assert len({machine_of(machines.load(name)).name for name in CALIBRATED}) == len(CALIBRATED)


@pytest.mark.parametrize("path", identity.AGREEING)
def test_a_machine_that_contradicts_its_measured_one_is_refused(path, tmp_path, spikemark):
    group, field = path.split(".")
    content = yaml.safe_load((machines.folder() / "jureca-dc.yaml").read_text())
    leaf = content[group].get(field)
    if leaf is None or leaf["kind"] == "assumed":
        pytest.skip("JURECA-DC does not state it")
    value = "ethernet" if field == "fabric" else 2 * leaf["value"]
    leaf |= {"value": value}
    leaf.pop("interval", None)
    file = written(tmp_path, **{group: content[group]})
    with pytest.raises(BadInput) as error:
        machines.load(file)
    assert error.value.field == path and str(error.value.file) == str(file)
    words = ["predict", "mam", "--full", "--machine", file, "--nodes", 4]
    status, output, errors = spikemark(*words)
    assert (status, output) == (2, "") and path in errors and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("field", "value"), [("measured_as", "nowhere"), ("processor", "epyc-9654"), ("measured_as", 3)]
)
def test_an_unknown_machine_and_another_processor_are_refused(field, value, tmp_path):
    with pytest.raises(BadInput) as error:
        machines.load(written(tmp_path, **{field: value}))
    assert error.value.field == field


def test_a_profile_agrees_with_itself_and_within_what_data_sheets_round(tmp_path):
    assert machines.load(written(tmp_path)).measured_as == "jureca-dc"
    for name in PROFILES:
        profile = machines.load(name)
        identity.check(profile, profile)
        for path in identity.AGREEING:
            value = profile.get(path)
            if value is not None and value.kind != "assumed" and isinstance(value.value, float):
                close = replace(value, value=1.05 * value.value, interval=None)
                changed = replace(profile, values=profile.values | {path: close})
                if identity.AGREEING[path] > 1:
                    identity.check(changed, profile)


OFFERED = {
    "format_version": 1,
    "node": {
        "sockets": leaf(2, "1"),
        "cores": leaf(128, "1"),
        "clock": leaf(2.25, "GHz"),
        "memory": leaf(256, "GB"),
    },
    "interconnect": {"fabric": leaf("infiniband")},
    "offer": {"nodes": leaf(4, "1"), "price": leaf(9000, "EUR"), "watts": leaf(650, "W")},
}


#: Machines on which a program was measured, so that it is predicted for any network.
COPIED = {"nest": ("jureca-dc", "cpu-nodes-128"), "dpsnn": ("simula-e5-2630-v2", "galileo")}


def offers_called(folder, names):
    """Files of two offers that nobody has measured, which differ in their clocks."""
    folder.mkdir()
    paths = []
    for name, clock in zip(names, (2.25, 2.6), strict=True):
        node = OFFERED["node"] | {"clock": leaf(clock, "GHz")}
        content = OFFERED | {"name": name, "title": f"The title of {name}", "node": node}
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content))
        paths.append(path)
    return paths


def copies_called(folder, names, machines_copied):
    """Files of measured machines under other names."""
    paths = []
    for name, machine in zip(names, machines_copied, strict=True):
        content = yaml.safe_load((machines.folder() / f"{machine}.yaml").read_text())
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content | {"name": name, "title": f"The title of {name}"}))
        paths.append(path)
    return paths


def network_called(folder, name):
    """The file of a network that nobody has published."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(SMALL.description))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("program", programs.PROGRAMS)
def test_names_of_offers_and_networks_change_no_number(program, tmp_path):
    """Nor does a machine that is asked about alone take another time than beside others."""
    answers = []
    for folder, names, network in (
        (tmp_path / "one", ("offer-a", "offer-b"), "run"),
        (tmp_path / "two", ("zenith", "apex"), "another network"),
    ):
        paths = offers_called(folder, names)
        if program in COPIED:
            paths = copies_called(folder, names, COPIED[program])
        file = network_called(folder, network)
        answer = spikemark.compare(file, paths, program=program, nodes=1, price_kwh=0.3)
        answers.append(answer)
        alone = spikemark.advise(file, paths[0], program=program, nodes=1)
        assert np.array_equal(alone.result.best.rtf, next(iter(answer.best.values())).rtf)
        assert list(answer.best) == list(names)
        for option in answer.best.values():
            for words in option.inputs:
                assert "unmeasured machine" not in words and "this network" not in words
    first, second = answers
    for one, other in zip(first.best.values(), second.best.values(), strict=True):
        assert np.array_equal(one.rtf, other.rtf)
    assert list(first.fastest.values()) == list(second.fastest.values())
    assert list(first.cheapest.values()) == list(second.cheapest.values())
    sentence = first.sentence
    renamed = {"offer-a": "zenith", "offer-b": "apex", "run.": "another network."}
    for name, other in renamed.items():
        sentence = sentence.replace(name, other)
    assert sentence == second.sentence


def test_two_offers_are_drawn_for_themselves_whatever_their_names(tmp_path):
    mam = multi_area_model()
    answers = []
    for folder, names in ("one", ("offer-a", "offer-b")), ("two", ("zenith", "apex")):
        paths = offers_called(tmp_path / folder, names)
        answers.append(spikemark.compare(mam, paths, program="nest", nodes=2))
    first, second = answers[0].best.values()
    assert abs(np.corrcoef(np.log(first.rtf), np.log(second.rtf))[0, 1]) < 0.8
    assert "offer-a" in str(list(first.inputs)) and "offer-b" in str(list(second.inputs))
    for one, other in zip(answers[0].best.values(), answers[1].best.values(), strict=True):
        assert np.array_equal(one.rtf, other.rtf)

"""Fewer channels of memory than in the data sheet have less bandwidth, and no time is shorter."""

import numpy as np
import pytest
import yaml
from published_networks import multi_area_model

import spikemark as sm
from spikemark import machines
from spikemark.machines import processors
from spikemark.prediction import production, question
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.performance import performance

#: Sheets of which the channels are known.
SHEETS = [name for name in processors.names() if "memory_channels" in processors.sheet(name).values]
CHOSEN = ("epyc-9654", "epyc-7742", "xeon-8480", "xeon-e5-2680-v3")
NETWORK = question.of_preset(
    "mam-benchmark", options=["areas=4", "neurons_per_area=20000", "indegree=1000"]
)
ROUNDING = 1e-5


def offer(folder, processor, channels=None, peak=None):
    """An offer of two sockets, perhaps with a number of channels of its own."""
    node = {
        "sockets": (2, "1"),
        "memory_channels": (channels, "1"),
        "bandwidth_peak": (peak, "GB/s"),
    }
    content = {"format_version": 1, "name": "offer", "title": "An offer", "processor": processor}
    content["node"] = {
        name: {"value": value, "unit": unit, "kind": "literature", "reference": "the offer"}
        for name, (value, unit) in node.items()
        if value is not None
    }
    file = folder / "offer.yaml"
    file.write_text(yaml.safe_dump(content))
    return machines.load(file)


@pytest.mark.parametrize("name", SHEETS)
def test_bandwidths_follow_the_channels_that_are_stated(tmp_path, name):
    whole = offer(tmp_path, name)
    channels = whole.values["node.memory_channels"].value
    for number in range(1, channels + 1):
        fewer = offer(tmp_path, name, number)
        peak = fewer.values["node.bandwidth_peak"].value
        assert peak == pytest.approx(whole.values["node.bandwidth_peak"].value * number / channels)
        bandwidths = [
            machines.filled(profile).values["node.bandwidth"].value for profile in (fewer, whole)
        ]
        assert bandwidths[0] == pytest.approx(bandwidths[1] * number / channels, rel=1e-3)
        assert bool(fewer.remarks) == (number < channels)


def test_a_peak_that_the_channels_do_not_have_is_used_and_remarked_upon(tmp_path):
    profile = offer(tmp_path, "epyc-9654", 8, 921.6)
    assert profile.values["node.bandwidth_peak"].value == 921.6
    assert sum("node.bandwidth_peak is stated as" in text for text in profile.remarks) >= 1


@pytest.mark.parametrize("name", CHOSEN)
def test_fewer_channels_never_make_a_time_shorter_and_few_make_the_mini_apps_longer(tmp_path, name):
    channels = offer(tmp_path, name).values["node.memory_channels"].value
    times = {"mini-app": [], "nest": []}
    for number in (channels, channels // 2, channels // 4, 1):
        machine = machines.filled(offer(tmp_path, name, number))
        cores = round(machine.values["node.cores"].value)
        loads = NETWORK.counting.loads(1, cores, "conventional", None)
        layout = MachineLayout.from_machine(machine, 1, cores)
        drawn = performance(loads, machine, layout).real_time_factor
        times["mini-app"].append(np.median(drawn))
        whole = multi_area_model()
        times["nest"].append(production.anchored(whole, machine, "nest", nodes=8).best.median)
    for program, medians in times.items():
        assert (np.diff(medians) >= -ROUNDING * np.array(medians[:-1])).all(), program
    assert times["mini-app"][-1] > 2 * times["mini-app"][0]


@pytest.mark.parametrize("program", ["nest", "mini-app"])
@pytest.mark.parametrize("differ", [True, False])
def test_costs_without_a_term_of_the_memory_are_remarked_upon(tmp_path, program, differ):
    folders = [tmp_path / "a", tmp_path / "b"]
    files = []
    for folder, number in zip(folders, (24, 8 if differ else 24), strict=True):
        folder.mkdir()
        offer(folder, "epyc-9654", number)
        files.append(folder / "offer.yaml")
    network = multi_area_model() if program == "nest" else NETWORK
    answer = sm.compare(network, files, program=program, nodes=8)
    found = [remark for remark in answer.remarks if "no term" in remark]
    assert len(found) == (differ and program == "nest")
    assert all("node.bandwidth_peak" in remark for remark in found)
    assert all(remark in answer.content()["remarks"] for remark in found)

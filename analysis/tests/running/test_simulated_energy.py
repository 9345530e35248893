"""Energy of simulated runs: that of each part of the machine, beside SimGrid's own plugin."""

import json
import re
from dataclasses import replace

import machine_file
import numpy as np
import pytest
from four_areas import describe
from simulated_parts import FAR, ON, full, load, simulate

from spikemark import machines
from spikemark.core.process import watch
from spikemark.records import record
from spikemark.running.simulation import parts_platform, power, smpirun, sources
from spikemark.running.simulation.networks import Networks
from spikemark.running.simulation.sources import Place


def test_energy_is_that_of_each_part(tmp_path):
    parts = {
        "fast": {"nodes": 8},
        "slow": {"nodes": 2, "power__idle": 20, "power__core": 1, "power__card": 2},
    }
    two = machines.load_any(machine_file.write_parts(tmp_path / "parts.yaml", **parts))
    found = simulate(tmp_path / "out", two, on=ON)
    energy, seconds = found.simulation["energy"], found.record.timing.simulate_s
    events = found.ranks["synaptic_events"] + found.ranks["external_events"]
    watts = {"fast": 3 * (100 + 4 * 10 + 5), "slow": 20 + 4 * 1 + 2}
    own = {"fast": events[:3].sum(), "slow": events[3]}
    assert energy["kind"] == "modelled" and energy["power_w"] == pytest.approx(sum(watts.values()))
    assert energy["energy_per_event_uj"] == pytest.approx(1e6 * sum(watts.values()) * seconds / events.sum())
    for name, part in energy["parts"].items():
        assert part["power_w"] == pytest.approx(watts[name])
        assert part["energy_j"] == pytest.approx(watts[name] * seconds)
        assert part["energy_per_event_uj"] == pytest.approx(1e6 * watts[name] * seconds / own[name])


def test_energy_of_a_part_without_power_is_unknown_with_a_reason(tmp_path):
    parts = {"fast": {"nodes": 8}, "slow": {"nodes": 2, "power__idle": None}}
    two = machines.load_any(machine_file.write_parts(tmp_path / "parts.yaml", **parts))
    energy = simulate(tmp_path / "out", two, on=ON).simulation["energy"]
    assert (
        energy["power_w"] is None and "part slow: " in energy["reason"] and "power.idle" in energy["reason"]
    )
    assert energy["parts"]["slow"]["energy_j"] is None and energy["parts"]["fast"]["energy_j"] > 0


@pytest.mark.parametrize("busily", [True, False])
def test_simgrids_energy_plugin_agrees(tmp_path, busily):
    """It takes cores that wait for idle ones, unless idle hosts draw as much as busy ones."""
    place = Place.of(machines.filled(load(tmp_path, link=FAR)), 4, 4, 1, ON)
    networks = Networks.of(place.machine, place.layout)
    built = parts_platform.build(networks, place.layout, 1)
    full_w, idle_w = 100 + 4 * 10 + 5, 100 + 5
    states = f"{full_w if busily else idle_w}:{full_w if busily else idle_w}:{full_w}"
    prop = f'   <prop id="wattage_per_state" value="{states}"/>\n'
    built = replace(built, xml=built.xml.replace("  </cluster>", f"{prop}  </cluster>"))
    description = describe("conventional", cycles=1000)
    description["time"]["warmup_ms"] = 0
    source = sources.model(description, full(description), place, place.jitters(None, None), 1)
    flags = [*built.flags, *source.flags, "--cfg=plugin:host_energy"]
    (tmp_path / "run.json").write_text(json.dumps(description))
    np.save(tmp_path / "compute.npy", source.times)
    arguments = ["run.json", "--out", "record", "--compute-times", "compute.npy"]
    _, output, errors = watch(smpirun.launch(tmp_path, built, flags, "miniapp_smpi", arguments), 60)
    said = re.findall(r"Energy consumption of host (\w+)-\d+: (\S+) Joules", f"{output}\n{errors}")
    sums = {name: sum(float(joules) for part, joules in said if part == name) for name in ON}
    run = record.load(tmp_path / "record")
    modelled = {name: one["energy_j"] for name, one in power.modelled(place, run)["parts"].items()}
    idle_s = {
        share.part: (run.record.timing.simulate_s - run.compute().sum(axis=1))[share.slice].sum()
        for share in place.layout.shares
    }
    asleep = {name: 0.0 if busily else (full_w - idle_w) * seconds for name, seconds in idle_s.items()}
    assert idle_s["fast"] > 0.25 * 3 * run.record.timing.simulate_s
    assert sums == pytest.approx({name: modelled[name] - asleep[name] for name in ON}, rel=0.02)


def test_a_machine_of_equal_nodes_has_its_energy_too(tmp_path):
    alone = machines.load(machine_file.write(tmp_path / "made-up.yaml"))
    found = simulate(tmp_path / "out", alone)
    energy = found.simulation["energy"]
    assert energy["power_w"] == pytest.approx(4 * (100 + 4 * 10 + 5)) and "parts" not in energy
    assert energy["energy_j"] == pytest.approx(energy["power_w"] * found.record.timing.simulate_s)

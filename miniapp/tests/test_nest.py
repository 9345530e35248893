"""The mini-app beside NEST, spike for spike, on a small network in which nothing is random.

Every population is one neuron, so a projection of in-degree 1 is one known synapse. Collected only
where NEST is installed (conftest.py).
"""

import json
import subprocess

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

NEURONS = 12
COMMON = {"C_m": 250.0, "tau_m": 10.0, "t_ref": 2.0, "E_L": -65.0, "V_th": -50.0, "V_reset": -67.0}
UNITS = {"C_m": "pF", "tau_m": "ms", "tau_syn": "ms", "t_ref": "ms", "I_e": "pA"}


def network(weight, delay_unit):
    """Parameters by neuron; synapses: source, target, weight, delay in ms. Every fifth neuron
    inhibits.
    """
    neurons = [COMMON | {"I_e": 340.0 + 17 * i, "V_m": -65.0 + i} for i in range(NEURONS)]
    synapses = [
        (i, j, -3.0 * weight if i % 5 == 4 else weight, delay_unit * (1 + (3 * i + 5 * j) % 13))
        for i in range(NEURONS)
        for j in range(NEURONS)
        if i != j and (7 * i + 3 * j) % 4
    ]
    return neurons, synapses


def of_nest(request):
    done = subprocess.run(
        [program.NEST, program.ROOT / "miniapp" / "tests" / "nest_spikes.py"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("SPIKES "))
    return {tuple(spike) for spike in json.loads(line.removeprefix("SPIKES "))}


def of_miniapp(folder, request, model, extra):
    def neuron(given):
        fields = {f"{k}_{UNITS.get(k, 'mV')}": v for k, v in (given | extra).items() if k != "V_m"}
        return {"model": model, "V_init_mV": given["V_m"], **fields}

    description = {
        "format_version": 1,
        "time": {k: request[k] for k in ("resolution_ms", "simulate_ms")},
        "record": {"spikes": True},
        "network": {
            "populations": [
                {"name": f"n{i}", "size": 1, "neuron": neuron(given)}
                for i, given in enumerate(request["neurons"])
            ],
            "projections": [
                {
                    "source": f"n{i}",
                    "target": f"n{j}",
                    "indegree": 1,
                    "weight": w,
                    "delay": {"distribution": "constant", "mean": d},
                }
                for i, j, w, d in request["synapses"]
            ],
        },
    }
    program.record_of(folder / "run", description=description)
    return {(int(gid), int(step)) for gid, step in np.load(folder / "run" / "spikes.npy")}


@pytest.mark.parametrize("h", [0.1, 1.0])
@pytest.mark.parametrize(
    ("model", "peer", "weight", "extra", "peer_extra"),
    [
        ("lif_exp", "iaf_psc_exp", 300.0, {"tau_syn": 0.5}, {"tau_syn_ex": 0.5, "tau_syn_in": 0.5}),
        (
            "lif_exp",
            "iaf_psc_exp",
            40.0,
            {"tau_syn": 10.0},
            {"tau_syn_ex": 10.0, "tau_syn_in": 10.0},
        ),
        ("lif_delta", "iaf_psc_delta", 0.5, {}, {}),
    ],
)
def test_spikes_are_those_of_nest(tmp_path, h, model, peer, weight, extra, peer_extra):
    neurons, synapses = network(weight, h)
    request = {"resolution_ms": h, "simulate_ms": 1000.0, "neurons": neurons, "synapses": synapses}
    expected = of_nest(request | {"model": peer, "neurons": [n | peer_extra for n in neurons]})
    alone = of_nest(
        request | {"model": peer, "neurons": [n | peer_extra for n in neurons], "synapses": []}
    )
    assert len(expected) > 100
    assert expected != alone  # the synapses matter
    assert of_miniapp(tmp_path, request, model, extra) == expected

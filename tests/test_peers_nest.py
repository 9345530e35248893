"""workflows/peers/nest_network.py with a NEST that only writes down what it is asked for.

The real NEST is not a dependency; `make peers` compares its rates and counts with the mini-app's in
every run.
"""

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from checkout import ROOT

from spikemark.core.fields import assign
from spikemark.measuring.peer_programs import Figures, programs
from spikemark.network.presets import PRESETS

SCRIPT = ROOT / "workflows" / "peers" / "nest_network.py"


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(SCRIPT.parent))  # as when it is started
    specification = importlib.util.spec_from_file_location("nest_network", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class Term(str):
    """A readable expression that stands for one of NEST's parameters."""

    def __rsub__(self, other):
        return Term(f"{other} - {self}")

    def __rtruediv__(self, other):
        return Term(f"{other} / {self}")


class Nodes(tuple):
    """Names and sizes of populations."""

    def __add__(self, other):
        return Nodes((*self, *other))


class FakeNest(SimpleNamespace):
    """Counts neurons and synapses; every neuron fires once per call of Run."""

    def __init__(self):
        super().__init__(
            __version__="0",
            calls=[],
            created=[],
            connected=[],
            kernel={},
            neurons=0,
            synapses=0,
            runs=[],
            VerbosityLevel=SimpleNamespace(ERROR=0),
            verbosity=None,
            Rank=lambda: 0,
            ResetKernel=lambda: self.calls.append("reset"),
            Prepare=lambda: self.calls.append("prepare"),
            Cleanup=lambda: self.calls.append("cleanup"),
            set=lambda **kernel: self.kernel.update(kernel),
            Run=lambda milliseconds: self.runs.append(milliseconds),
            math=SimpleNamespace(
                redraw=lambda what, min, max: Term(f"{what} in [{min:g}, {max:g}]")
            ),
            random=SimpleNamespace(
                uniform=lambda min=0.0, max=1.0: Term(f"uniform({min}, {max})"),
                normal=lambda mean, std: Term(f"normal({mean:g}, {std:g})"),
                exponential=lambda beta: Term(f"exponential({beta:g})"),
            ),
        )

    def Create(self, model, size, params):
        self.neurons += size
        self.created.append((model, size, params))
        return Nodes([(len(self.created), size)])

    def Connect(self, sources, targets, rule, synapse):
        targeted = sum(size for _, size in targets)
        self.synapses += targeted if rule == "all_to_all" else rule["indegree"] * targeted
        self.connected.append((sources, targets, rule, synapse))

    def GetKernelStatus(self):
        counts = {"local_spike_counter": self.neurons, "network_size": self.neurons}
        return {**counts, "num_connections": self.synapses, "num_processes": 1, **self.kernel}


def describe(**options) -> dict:
    small = {"areas": 3, "neurons_per_area": 50, "indegree": 20, "delay_intra": (1.5, 0.75)}
    return PRESETS["mam-benchmark"].describe(**{**small, **options})


def changed(**fields) -> dict:
    """A small network with other values; dots of a path are two underscores, `each` is every
    population.
    """
    description = describe()
    for path, value in fields.items():
        for i in range(3) if path.startswith("each") else (0,):
            field = path.replace("__", ".").replace("each", f"network.populations.{i}")
            assign(description, field, value)
    return description


@pytest.fixture
def run(script, tmp_path, monkeypatch, capsys):
    """Runs the script in this process with a fake NEST: (NEST, status, output, errors)."""

    def call(description, *arguments):
        nest = FakeNest()
        monkeypatch.setitem(sys.modules, "nest", nest)
        path = tmp_path / "run.json"
        path.write_text(description if isinstance(description, str) else json.dumps(description))
        status = script.main([str(path), *arguments])
        said = capsys.readouterr()
        return nest, status, said.out, said.err

    return call


NEURONS = ("ignore_and_fire", "lif_delta", "lif_exp")


@pytest.mark.parametrize(
    ("program", "neurons"),
    [(program, name) for name in NEURONS for program in programs({name})[1:]],
    ids=lambda given: getattr(given, "name", given),
)
def test_every_kind_is_a_valid_result_of_the_same_network(run, program, neurons):
    description = changed(each__neuron={"model": neurons}, time__warmup_ms=20, time__simulate_ms=80)
    nest, status, output, errors = run(description, "--model", program.model, "--threads", "2")
    assert (status, errors) == (0, "")
    found = Figures.model_validate_json(output)
    assert (found.neurons, found.synapses, found.threads) == (150, 150 * 20, 2)
    assert found.model == program.model and found.note
    assert found.spikes == 150 and found.model_s == pytest.approx(0.08)
    assert nest.runs == [20, 80]  # warm-up apart
    assert nest.calls == ["reset", "prepare", "cleanup"]


def test_neurons_weights_and_input_from_outside_are_those_of_the_description(run):
    neuron = {"model": "lif_exp", "tau_m_ms": 20, "I_e_pA": 3, "V_init_mV": -60, "V_init_sd_mV": 5}
    external = {"rate_hz": 3, "synapses": 400, "weight": 0.9}
    description = changed(time__cycle_ms=0.5, each__neuron=neuron, each__external=external)
    description["network"]["projections"][1]["weight"] = {"mean": -1.5, "sd": 0.25, "classes": 16}
    nest, status, output, _ = run(description, "--model", "described")
    found = Figures.model_validate_json(output)
    assert (status, found.neurons, found.synapses) == (0, 150, 150 * 20)  # no generators
    assert nest.created[0] == (
        "iaf_psc_exp",
        50,
        {
            "C_m": 250,
            "I_e": 3,
            "tau_m": 20,
            "t_ref": 2,
            "E_L": -65,
            "V_th": -50,
            "V_reset": -65,
            "tau_syn_ex": 0.5,
            "tau_syn_in": 0.5,
            "V_m": "normal(-60, 5)",
        },
    )
    drives = [created for created in nest.created if created[0] == "poisson_generator"]
    assert drives == [("poisson_generator", 1, {"rate": 1200})] * 3
    driven = [synapse for _, _, rule, synapse in nest.connected if rule == "all_to_all"]
    assert (
        driven == [{"synapse_model": "static_synapse", "weight": 0.9, "delay": 0.5}] * 3
    )  # not below d_min
    weights = [synapse["weight"] for _, _, rule, synapse in nest.connected if rule != "all_to_all"]
    assert weights == [1, "normal(-1.5, 0.25)", 1, 1, 1, 1]


def test_kernel_delays_and_rules_are_those_of_the_description(run):
    nest, *_ = run(describe(delay_max=3.0, delay_inter_min=1.0, seed=7))
    kernel = {"resolution": 0.1, "min_delay": 0.1, "local_num_threads": 1, "rng_seed": 7}
    assert nest.kernel == {**kernel, "max_delay": pytest.approx(3.0)}
    intra, inter = nest.connected[:2]
    assert intra[3]["delay"] == "normal(1.5, 0.75) in [0.1, 3]"
    assert inter[3]["delay"] == "normal(1.5, 0.75) in [1, 3]"
    assert (intra[0], inter[0]) == (((1, 50),), ((2, 50), (3, 50)))  # one pool of the two others
    expected = {
        "rule": "fixed_indegree",
        "indegree": 10,
        "allow_multapses": True,
        "allow_autapses": True,
    }
    assert all(rule == expected for _, _, rule, _ in nest.connected)


def test_integrating_neurons_take_their_input_and_are_forced_to_fire_at_the_described_rates(run):
    description = describe(rate=4.0)
    description["network"]["projections"][1]["weight"] = -2
    nest, *_ = run(description, "--model", "iaf_psc_delta")
    assert nest.created[0][2] == {
        "ignore_and_spike": True,
        "ignore_and_spike_interval": 250,
        "ignore_and_spike_offset": "uniform(0.1, 250.0)",
    }
    assert [synapse["weight"] for *_, synapse in nest.connected][:3] == [1, -2, 1]
    nest, *_ = run(describe(rate=4.0, rate_cv=0.5), "--model", "iaf_psc_delta")
    assert nest.created[0][2]["ignore_and_spike_interval"].startswith(
        "1000 / normal(4, 2) in [4e-06"
    )


REFUSALS = {
    "neuron.model": changed(each__neuron={"model": "lif"}),
    "neuron.phase": changed(each__neuron__phase=1),
    "rate_hz": changed(each__neuron__rate_hz=0),
    "delay.distribution": changed(network__projections__0__delay__distribution="gamma"),
    "indegree": changed(network__projections__0__indegree={"mean": 9.5}),
    "external": changed(each__external={"rate_hz": 1, "weight": 1}),
    "'nobody' is not a population": changed(network__projections__0__source="nobody"),
    "not a run description": {"time": {"simulate_ms": 1}},
    "not a run description:": "{",
    "not a run description: ": "[]",
}


@pytest.mark.parametrize("words", REFUSALS)
def test_a_refusal_is_one_line_and_status_2(run, words):
    nest, status, output, errors = run(REFUSALS[words])
    assert (status, output, nest.calls) == (2, "", [])
    (line,) = errors.splitlines()
    assert line.startswith("nest_network: ") and words.rstrip(": ") in line


def test_without_nest_one_line_says_how_to_install_it(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(describe()))
    (tmp_path / "nest.py").write_text("raise ImportError('nothing here')")
    command = [sys.executable, SCRIPT, tmp_path / "run.json"]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and "workflows/peers/install.sh" in line and "nothing here" in line

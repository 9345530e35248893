"""workflows/peers/nest_network.py with a NEST that only writes down what it is asked for.

The real NEST is not a dependency; `make peers` compares its rates and counts with the mini-app's in every
run.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from spikemark.bench.peers.programs import PROGRAMS, Figures, Nest
from spikemark.presets import PRESETS

ROOT = Path(__file__).parents[1]
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
            __version__="0", calls=[], created=[], connected=[], kernel={}, neurons=0, synapses=0, runs=[],
            VerbosityLevel=SimpleNamespace(ERROR=0), verbosity=None,
        )  # fmt: skip
        self.random = SimpleNamespace(
            uniform=lambda min=0.0, max=1.0: Term(f"uniform({min}, {max})"),
            normal=lambda mean, std: Term(f"normal({mean:g}, {std:g})"),
            exponential=lambda beta: Term(f"exponential({beta:g})"),
        )
        self.math = SimpleNamespace(redraw=lambda what, min, max: Term(f"{what} in [{min:g}, {max:g}]"))

    def ResetKernel(self):
        self.calls.append("reset")

    def set(self, **kernel):
        self.kernel = kernel

    def Create(self, model, size, params):
        self.neurons += size
        self.created.append((model, size, params))
        return Nodes([(len(self.created), size)])

    def Connect(self, sources, targets, rule, synapse):
        targeted = sum(size for _, size in targets)
        self.synapses += targeted if rule == "all_to_all" else rule["indegree"] * targeted
        self.connected.append((sources, targets, rule, synapse))

    def Prepare(self):
        self.calls.append("prepare")

    def Run(self, milliseconds):
        self.runs.append(milliseconds)

    def Cleanup(self):
        self.calls.append("cleanup")

    def GetKernelStatus(self):
        counts = {"local_spike_counter": self.neurons, "network_size": self.neurons}
        return {**counts, "num_connections": self.synapses, "num_processes": 1, **self.kernel}


def describe(**options) -> dict:
    small = {"areas": 3, "neurons_per_area": 50, "indegree": 20, "delay_intra": (1.5, 0.75)}
    return PRESETS["mam-benchmark"].describe(**{**small, **options})


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


NESTS = [program for program in PROGRAMS if isinstance(program, Nest)]


@pytest.mark.parametrize(
    ("program", "neurons"),
    [(program, name) for program in NESTS for name in sorted(program.for_models)],
    ids=lambda given: getattr(given, "name", given),
)
def test_every_kind_is_a_valid_result_of_the_same_network(run, program, neurons):
    description = with_neurons(describe(warmup_ms=20, simulate_ms=80), {"model": neurons})
    nest, status, output, errors = run(description, "--model", program.model, "--threads", "2")
    assert (status, errors) == (0, "")
    found = Figures.model_validate_json(output)
    assert (found.neurons, found.synapses, found.threads) == (150, 150 * 20, 2)
    assert found.model == program.model
    assert found.mean_rate_hz == pytest.approx(150 / 150 / 0.08)
    assert found.note
    assert nest.runs == [20, 80]  # warm-up apart
    assert nest.calls == ["reset", "prepare", "cleanup"]


def with_neurons(description, neuron, **more):
    for population in description["network"]["populations"]:
        population |= {"neuron": neuron, **more}
    return description


def test_neurons_weights_and_input_from_outside_are_those_of_the_description(run):
    neuron = {"model": "lif_exp", "tau_m_ms": 20, "I_e_pA": 3, "V_init_mV": -60, "V_init_sd_mV": 5}
    external = {"rate_hz": 3, "synapses": 400, "weight": 0.9}
    description = with_neurons(describe(cycle_ms=0.5, delay_ratio=1), neuron, external=external)
    description["network"]["projections"][1]["weight"] = {"mean": -1.5, "sd": 0.25, "classes": 16}
    nest, status, output, _ = run(description, "--model", "described")
    assert status == 0
    found = Figures.model_validate_json(output)
    assert (found.neurons, found.synapses) == (150, 150 * 20)  # without the generators and their connections
    model, size, parameters = nest.created[0]
    assert (model, size) == ("iaf_psc_exp", 50)
    assert parameters == {
        "C_m": 250, "I_e": 3, "tau_m": 20, "t_ref": 2, "E_L": -65, "V_th": -50, "V_reset": -65,
        "tau_syn_ex": 0.5, "tau_syn_in": 0.5, "V_m": "normal(-60, 5)",
    }  # fmt: skip
    drives = [created for created in nest.created if created[0] == "poisson_generator"]
    assert drives == [("poisson_generator", 1, {"rate": 1200})] * 3
    driven = [synapse for _, _, rule, synapse in nest.connected if rule == "all_to_all"]
    assert driven == [{"synapse_model": "static_synapse", "weight": 0.9, "delay": 0.5}] * 3  # not below d_min
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
    for _, _, rule, _ in nest.connected:
        assert rule == {
            "rule": "fixed_indegree", "indegree": 10, "allow_multapses": True, "allow_autapses": True,
        }  # fmt: skip


def test_constant_delays_and_defaults(run):
    description = describe()
    description["network"]["projections"][0]["delay"] = {"distribution": "constant", "mean": 2.5}
    description["network"]["projections"][1]["delay"] = {"mean": 2.0, "sd": 1.0}
    description["network"]["projections"][2]["indegree"] = 0
    description["network"]["projections"][3]["delay"] = {"distribution": "exponential", "mean": 1.0}
    nest, *_ = run(description)
    assert nest.connected[2][3]["delay"] == "exponential(1) in [0.1, 5]"
    assert nest.connected[0][3]["delay"] == 2.5
    assert nest.connected[1][3]["delay"] == "normal(2, 1) in [0.1, 6]"
    assert nest.kernel["max_delay"] == pytest.approx(6)
    assert len(nest.connected) == 5


def test_rates_and_phases(run):
    nest, *_ = run(describe(rate=4.0))
    assert nest.created[0][2] == {"rate": 4.0, "phase": "1.0 - uniform(0.0, 1.0)"}
    nest, *_ = run(describe(rate=4.0, rate_cv=0.5))
    assert nest.created[0][2]["rate"].startswith("normal(4, 2) in [4e-06")


def test_integrating_neurons_take_their_input_and_are_forced_to_fire_at_the_described_rates(run):
    description = describe(rate=4.0)
    description["network"]["projections"][1]["weight"] = -2
    nest, *_ = run(description, "--model", "iaf_psc_delta")
    assert nest.created[0][2] == {
        "ignore_and_spike": True, "ignore_and_spike_interval": 250, "ignore_and_spike_offset":
        "uniform(0.1, 250.0)",
    }  # fmt: skip
    assert [synapse["weight"] for *_, synapse in nest.connected][:3] == [1, -2, 1]
    nest, *_ = run(describe(rate=4.0, rate_cv=0.5), "--model", "iaf_psc_delta")
    assert nest.created[0][2]["ignore_and_spike_interval"].startswith("1000 / normal(4, 2) in [4e-06")


@pytest.mark.parametrize(
    ("seed", "expected"), [(0, 2**32 - 1), (1, 1), (2**32 - 1, 2**32 - 1), (2**53, 2**21)]
)
def test_every_seed_becomes_one_that_nest_allows(run, seed, expected):
    nest, *_ = run(describe(seed=seed))
    assert nest.kernel["rng_seed"] == expected


def changed(path, value):
    description = describe()
    *steps, last = path.split(".")
    at = description
    for step in steps:
        at = at[int(step)] if step.isdigit() else at[step]
    at[last] = value
    return description


REFUSALS = {
    "model": (
        changed("network.populations.0.neuron", {"model": "lif"}),
        "neuron.model: 'lif'; allowed: ignore_and_fire",
    ),
    "parameter": (
        changed("network.populations.0.neuron.phase", 1),
        "neuron.phase: allowed: rate_hz, rate_cv",
    ),
    "silent": (changed("network.populations.0.neuron.rate_hz", 0), "rate_hz: 0; allowed: above 0"),
    "delay": (
        changed("network.projections.0.delay.distribution", "gamma"),
        "'gamma'; allowed: normal, exponential, constant",
    ),
    "in-degree": (changed("network.projections.0.indegree", {"mean": 9.5}), "allowed: a number"),
    "external": (
        changed("network.populations.0.external", {"rate_hz": 1, "weight": 1}),
        "external: allowed: no",
    ),
    "source": (changed("network.projections.0.source", "nobody"), "'nobody' is not a population"),
    "no network": ({"time": {"simulate_ms": 1}}, "not a run description"),
    "not JSON": ("{", "not a run description"),
    "a list": ("[]", "not a run description"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_is_one_line_and_status_2(run, case):
    description, words = REFUSALS[case]
    nest, status, output, errors = run(description)
    assert (status, output, nest.calls) == (2, "", [])
    (line,) = errors.splitlines()
    assert line.startswith("nest_network: ") and words in line


def test_without_nest_one_line_says_how_to_install_it(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(describe()))
    (tmp_path / "nest.py").write_text("raise ImportError('nothing here')")
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "run.json"],
        env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "workflows/peers/install.sh" in line and "nothing here" in line

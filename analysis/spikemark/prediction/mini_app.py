"""A way to run the mini-app: the layout of a network on the ranks and nodes of a machine.

Its times follow from counts and from the values of the machine (performance.py), its memory from
what the mini-app itself counts (memory.py).
"""

import json
import shlex
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import YAML
from spikemark.machines.profile import Profile
from spikemark.machines.values import Values
from spikemark.quantities.quantity import Quantity

from . import exchange, memory
from .layout import AnyMachine, MachineLayout
from .memory import Memory
from .option import Option, Way, named_inputs
from .performance import Performance, calls, kept_errors, performance, sampled
from .question import Question
from .wording import interval
from .workload import Loads

MINI_APP = "mini-app"
STANDARD_DEVIATIONS = 1.96  #: from the middle to an end of a 95 % interval
#: A program that prints a YAML file as JSON, read as by `spikemark`.
AS_JSON = (
    "import json, pathlib, sys; from spikemark.core.yaml_file import read_yaml;"
    " print(json.dumps(read_yaml(pathlib.Path(sys.argv[1])), indent=1))"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class MiniAppOption(Option):
    """A layout of the mini-app, with draws of what it takes."""

    performance: Performance  #: its times and counts
    changed: dict[str, Any] = field(default_factory=dict)  #: fields that the question has otherwise
    #: Its memory, where that is being counted already.
    counting: Future[Memory] | None = None

    program = MINI_APP
    program_title = "the mini-app"

    @property
    def advice(self) -> str:
        """The sentence that advises to run the network so."""
        schedule = self.way.schedule.replace("_", "-")
        return (
            f"Run {self.question.sized} {schedule} with placement {self.way.placement} on"
            f" {self.place}: real-time factor {interval(self.rtf)}."
        )

    @property
    def rests_on(self) -> str:
        """Whether the kernel times of the machine were measured."""
        kinds = [
            value.kind
            for path, value in self.machine.values.items()
            if "kernels.full_node.t_next" in path
        ]
        origin = "assumed from a calibrated machine"
        if kinds and kinds[0] == "measured":
            origin = "measured there"
        return f"Times are the mini-app's, modelled; kernel times are {origin}."

    @cached_property
    def needed(self) -> tuple[Memory | None, str]:
        """Memory of each rank, or why the mini-app does not count it."""
        description = self.question.description | self.changed
        try:
            if self.counting is not None:
                return self.counting.result(), ""
            return memory.of_run(description, self.ranks, self.threads), ""
        except BadInput as error:
            return None, str(error)

    @property
    def node_gb(self) -> float | None:
        """Memory of the fullest node in GB; None where it is not known."""
        needed, _ = self.needed
        if needed is None:
            return None
        return 1e-9 * needed.node_bytes(self.performance.layout)

    @cached_property
    def hidden_exchange(self) -> Quantity | None:
        """Seconds per simulated second of exchanges that go on while ranks compute; None where no
        lane has a lag.
        """
        loads, layout = self.performance.loads, self.performance.layout
        lanes = []
        for number, lane in enumerate(loads.lanes):
            traffic = exchange.groups(loads, number, layout)
            if lane.lag and traffic:
                lanes.append((lane, traffic))
        if not lanes:
            return None

        def evaluate(values: Values) -> dict[str, float]:
            collectives = calls(values, layout)
            times = [exchange.seconds(collectives, *each) / each[0].period for each in lanes]
            return {"exchange": sum(times) / loads.cycle_s}

        machine = cast(Profile, self.machine)  # one of parts is asked in the same way
        sampled_s = replace(sampled(machine, evaluate)["exchange"], unit="s per simulated s")
        return _with_error(sampled_s, "exchange")

    @property
    def run_command(self) -> str:
        """The command that runs the network so."""
        return _run_command(self)

    def further_content(self) -> dict[str, Any]:
        """The largest D that is exact."""
        return {"largest_delay_ratio": self.performance.loads.largest_delay_ratio}

    def way_content(self) -> dict[str, Any]:
        """Schedule, placement, D, lag and the exchange of each lane."""
        return {
            "schedule": self.way.schedule,
            "placement": self.way.placement,
            "delay_ratio": self.way.delay_ratio,
            "lag": self.way.lag,
            "exchange": self.way.exchange,
        }


def _with_error(seconds: Quantity, part: str) -> Quantity:
    """Seconds whose interval also has the error of the model itself in a part."""
    middle = seconds.number
    low, high = seconds.limits
    if min(low, middle) <= 0:
        return seconds
    of_model = STANDARD_DEVIATIONS * kept_errors()[part]
    below = np.hypot(np.log(middle / low), of_model)
    above = np.hypot(np.log(high / middle), of_model)
    ends_s = float(middle * np.exp(-below)), float(middle * np.exp(above))
    return replace(seconds, low=ends_s[0], high=ends_s[1])


def mini_app_option(
    question: Question,
    machine: AnyMachine,
    loads: Loads,
    layout: MachineLayout,
    changed: dict[str, Any] | None = None,
    means: np.ndarray | None = None,
    counting: Future[Memory] | None = None,
) -> MiniAppOption:
    """A layout of the mini-app with all draws.

    `changed`: fields of the description in which it differs from that of the question. `means`:
    measured compute times, see `performance`. `counting`: of its memory, where that has begun.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.prediction.question import of_preset
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> network = of_preset("mam-benchmark", options=["areas=4"])
        >>> loads = Loads.count(network.description, ranks=4, threads=128, hz=network.rates.hz)
        >>> layout = MachineLayout.from_machine(jureca, ranks=4, threads=128)
        >>> option = mini_app_option(network, jureca, loads, layout)
        >>> option.nodes, option.rtf.shape
        (4, (2048,))
    """
    times = performance(loads, machine, layout, means=means)
    exchanges = {lane.name: lane.exchange for lane in loads.lanes if not lane.alone}
    way = Way(
        schedule=loads.schedule.name,
        placement=loads.placement,
        delay_ratio=loads.delay_ratio,
        lag=loads.description.lag if loads.schedule.lagged else None,
        exchange=exchanges or None,
    )
    return MiniAppOption(
        machine=machine,
        question=question,
        nodes=layout.nodes,
        ranks=loads.ranks,
        threads=loads.threads,
        rtf=times.real_time_factor,
        parts=times.parts,
        inputs=named_inputs(times.inputs, machine, question),
        power_w=times.power_w,
        events=loads.events_per_s,
        way=way,
        changed=changed or {},
        counting=counting,
        performance=times,
    )


def _run_command(option: MiniAppOption) -> str:
    """The command that runs the mini-app in this way.

    It runs the file that was given, or what the preset writes. The mini-app reads JSON; of a YAML
    file, the JSON is written first.
    """
    named = option.question.named
    if isinstance(named, tuple):
        file = Path("run.json")
        writes = f"{command('preset', *named)} > {file} && "
    else:
        file, writes = as_json(named)
    ranks_per_node = -(-option.ranks // option.nodes)
    mapping = f"ppr:{ranks_per_node}:node:PE={option.threads}"
    words = ["mpirun", "-n", str(option.ranks), "--map-by", mapping]
    words += ["miniapp", str(file), "--out", "out/advice"]
    for name, value in option.way_content().items():
        if value is None:
            continue
        text = json.dumps(value) if isinstance(value, dict) else value
        words += ["--set", f"{name}={text}"]
    return f"{writes}OMP_NUM_THREADS={option.threads} {shlex.join(words)}"


def as_json(file: Path) -> tuple[Path, str]:
    """The file of a run description as the mini-app reads it, and what begins a command that runs
    it: of YAML, JSON is written first.

    Example:
        >>> as_json(Path("network.json"))
        (PosixPath('network.json'), '')
        >>> path, writes = as_json(Path("network.yaml"))
        >>> str(path), writes.endswith(" network.yaml > network.yaml.json && ")
        ('network.yaml.json', True)
    """
    if file.suffix not in YAML:
        return file, ""
    written = file.with_name(f"{file.name}.json")
    writes = shlex.join(["python3", "-c", AS_JSON, str(file)])
    return written, f"{writes} > {shlex.quote(str(written))} && "

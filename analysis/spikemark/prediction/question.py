"""The network that is asked about, a preset or the file of a run description, and how it is to
run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.summary import Summarised
from spikemark.core.yaml_file import read_json_or_yaml
from spikemark.network.description import Description, Network, read_description
from spikemark.network.exchanges import EXCHANGES
from spikemark.network.named_files import located
from spikemark.network.placement import check_name
from spikemark.network.placement_text import field_of
from spikemark.network.presets import PRESETS
from spikemark.network.schedules import SCHEDULES, Schedule, find_schedule
from spikemark.quantities.words import integer

from . import points
from .published_machine import PublishedMachine
from .workload import Counting, Rates, rates_of

THIS_NETWORK = "this network"  #: after which the draws of one that nobody published are named
AUTO = "auto"  #: D: the largest that is exact
UNCONNECTED_CYCLE_MS = 1000.0  #: a cycle of a network without synapses
#: Fields that only some schedules use, and the property of a schedule that says so.
USED_BY = {"delay_ratio": "uses_delay_ratio", "lag": "lagged"}


@dataclass(frozen=True, repr=False)
class Question(Summarised):
    """A description, the rates at which its neurons fire, and how it is to run."""

    title: str
    description: dict[str, Any]
    rates: Rates
    #: The file that it is from, or the words of `spikemark preset` that write it.
    named: Path | tuple[str, ...] = ()
    #: What was given of schedule, placement, delay_ratio, lag and exchange.
    fixed: dict[str, Any] = field(default_factory=dict)
    preset: str | None = None  #: its name, if it is one at its published size
    options: dict[str, Any] = field(default_factory=dict)  #: of the command line, that name it
    #: That of the description, where it has been read; reading a large one takes a while.
    network: Network | None = field(default=None, compare=False)

    def _summary(self) -> str:
        network = self.known.network
        size = f"{self.known.neurons} neurons, {network.synapses:.3g} synapses"
        return f"{self.title}, {size}, rates {self.rates.source}"

    @property
    def sized(self) -> str:
        """The title, with the neurons of a preset unless it has its published size.

        >>> of_preset("mam-benchmark").sized
        'mam-benchmark (20\\u202f000 neurons)'
        """
        if not self.options.get("preset") or self.options.get("full"):
            return self.title
        return f"{self.title} ({integer(self.known.neurons)} neurons)"

    def _further(self) -> str:
        return ".description is the run description; .known, .rates.hz; sm.predict(network, ...)"

    @cached_property
    def known(self) -> Description:
        """The description, read.

        Example:
            >>> network = of_preset("mam-benchmark")
            >>> network.known.neurons
            20000
        """
        return read_description(self.description, network=self.network)

    @cached_property
    def counting(self) -> Counting:
        """Counts the loads of this network in many ways of running it.

        Example:
            >>> network = of_preset("mam-benchmark")
            >>> round(network.counting.events_per_s)  # synaptic events per simulated second
            25000000
        """
        return Counting(self.known, self.rates.hz)

    @cached_property
    def free(self) -> "Question":
        """The same where only what was given is fixed, for a search: D is the largest exact one.

        Example:
            >>> network = of_preset("mam-benchmark")
            >>> network.free.description["delay_ratio"]
            'auto'
        """
        free = {
            name: value
            for name, value in self.description.items()
            if name not in ("placement", "lag")
        }
        return replace(self, description=free | {"delay_ratio": AUTO} | self.fixed)

    @property
    def remarks(self) -> list[str]:
        """What the description states and a search leaves out: a placement from a file.

        Example:
            >>> network = of_preset("mam-benchmark")
            >>> network.remarks
            []
        """
        placement = self.description.get("placement")
        if "placement" in self.fixed or not isinstance(placement, dict):
            return []
        file = placement.get("file")
        return [
            f"the placement of {file} is not among those that are tried; --placement {file}"
            " takes it"
        ]

    def way(
        self,
        schedule: str | None = None,
        placement: str | None = None,
        delay_ratio: int | str | None = None,
        lag: int | None = None,
        exchange: str | Mapping[str, object] | None = None,
    ) -> "Question":
        """The same, run in this way.

        None: as the description states. D is the largest exact one by default. Raises BadInput for
        unknown names, and for a D or a lag that a given schedule does not use.

        Example:
            >>> network = of_preset("mam-benchmark")
            >>> network.way(schedule="structure_aware").fixed
            {'schedule': 'structure_aware'}
        """
        fixed = fixed_by(schedule, placement, delay_ratio, lag, exchange)
        ratio = self.description.get("delay_ratio") or AUTO
        description = self.description | {"delay_ratio": ratio} | fixed
        return replace(self, description=description, fixed=fixed)

    def simulated_by(
        self, program: str, version: str, machine: PublishedMachine, nodes: int
    ) -> points.PublishedRun:
        """The run of a production program on so many nodes: a rank on each socket, cycles of the
        shortest delay.

        Example:
            >>> network = of_preset("mam-benchmark")
            >>> from spikemark import machines
            >>> from spikemark.prediction.published_machine import machine_of
            >>> jureca = machine_of(machines.filled(machines.load("jureca-dc")))
            >>> network.simulated_by("nest", "", jureca, nodes=4).ranks
            8
        """
        ranks_per_node = machine.sockets
        return points.PublishedRun(
            program=program,
            version=version,
            network=self._published_network(),
            machine=machine,
            nodes=nodes,
            ranks=ranks_per_node * nodes,
            threads=max(1, machine.cores // ranks_per_node),
        )

    def _published_network(self) -> points.PublishedNetwork:
        """The network as points have it; a published one has more to say than its size."""
        network = self.known.network
        step_ms = self.known.time.resolution_ms
        shortest = self.known.shortest.min(initial=np.inf)  # in steps
        cycle_ms = step_ms * shortest if np.isfinite(shortest) else UNCONNECTED_CYCLE_MS
        sizes = np.array([p.size for p in network.populations], dtype=float)
        neurons = float(sizes.sum())
        synapses = float(network.synapses)
        rate_hz = float(sizes @ self.rates.hz / max(sizes.sum(), 1))
        row = points.network_of_preset(self.preset)
        if row is not None:
            return replace(row.of_size(neurons, synapses, rate_hz, cycle_ms), step_ms=step_ms)
        longest = max((steps for _, steps in self.known.delays), default=1)
        return points.PublishedNetwork(
            model=THIS_NETWORK,
            variant="",
            neurons=neurons,
            synapses=synapses,
            rate_hz=rate_hz,
            step_ms=step_ms,
            cycle_ms=cycle_ms,
            delay_ms=self.known.time.resolution_ms * longest,
            poisson=any(p.outside_hz for p in network.populations),
        )


def fixed_by(
    schedule: str | None = None,
    placement: str | None = None,
    delay_ratio: int | str | None = None,
    lag: int | None = None,
    exchange: str | Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """The fields of a run description that a way of running fixes, whatever the network.

    None: it does not. Raises BadInput as `Question.way`.

    Example:
        >>> fixed_by(schedule="overlapped", lag=2)
        {'schedule': 'overlapped', 'lag': 2}
    """
    given: dict[str, Any] = {
        "schedule": schedule,
        "placement": placement,
        "delay_ratio": delay_ratio,
        "lag": lag,
        "exchange": exchange,
    }
    fixed = {name: value for name, value in given.items() if value is not None}
    if schedule is not None:
        _check_used(find_schedule(schedule), fixed)
    if placement is not None:
        check_name(placement)
        fixed["placement"] = field_of(placement)
    _check_exchange(exchange)
    return fixed


def _check_used(schedule: Schedule, fixed: dict[str, Any]) -> None:
    """Raises BadInput for a D or a lag that a schedule does not use."""
    for name, uses in USED_BY.items():
        if name in fixed and not getattr(schedule, uses):
            fitting = [other.name for other in SCHEDULES.values() if getattr(other, uses)]
            raise BadInput(
                f"{name}={fixed[name]}: {schedule.name} does not use it;"
                f" expected one of {', '.join(fitting)}",
                field=name,
                code="conflict",
            )


def _check_exchange(exchange: str | Mapping[str, object] | None) -> None:
    """Raises BadInput for an unknown exchange, of all lanes or by lane."""
    names: Iterable[object] = [exchange]
    if isinstance(exchange, Mapping) and "name" not in exchange:
        names = exchange.values()
    for name in names:
        if isinstance(name, str) and name not in EXCHANGES:
            raise unknown_name("exchange", name, EXCHANGES)


def of_preset(
    name: str,
    full: bool = False,
    options: list[str] | None = None,
    rate: float | None = None,
    asked_as: str = "preset",
) -> Question:
    """A preset with options such as 'areas=64', at its published size if `full`.

    `rate` in Hz takes precedence over published ones. Raises BadInput for what the preset refuses,
    and for an unknown name, as a value of what the user gave, `asked_as`.

    Example:
        >>> of_preset("mam-benchmark", options=["areas=4"]).known.neurons
        20000
    """
    if name not in PRESETS:
        raise unknown_name(asked_as, name, PRESETS)
    values = _option_values(options or [])
    size = {"full": True} if full else {}
    description = PRESETS[name].describe(**size, **values)
    known = read_description(description, checked=True)
    title_words = [name]
    command_words = [name]
    if full:
        title_words.append("full size")
        command_words.append("--full")
    for option, value in values.items():
        command_words.append(f"--{option.replace('_', '-').rstrip('-')}")
        if value is not True:
            command_words.append(str(value))
    return Question(
        title=" ".join([*title_words, *(options or [])]),
        description=description,
        rates=rates_of(known, rate, name, values),
        named=tuple(command_words),
        preset=name if full and not values else None,
        options={"preset": name, "full": full, "option": options, "rate": rate},
        network=known.network,
    )


def _option_values(options: list[str]) -> dict[str, Any]:
    """The values of options NAME=VALUE, by name. Raises BadInput for others and for one twice."""
    values: dict[str, Any] = {}
    for option in options:
        name, sign, value = option.partition("=")
        name = name.replace("-", "_")
        if not (name and sign) or name in values:
            raise BadInput(
                f"option={option!r}: expected NAME=VALUE, each name once", field="option"
            )
        values[name] = _plain(value)
    return values


def of_file(path: Path, rate: float | None = None) -> Question:
    """The run description in a file.

    Raises BadInput for a file without one, and for unknown names.

    Example:
        >>> of_file(Path("tests/golden/analysis/networks/equal-4.json")).known.neurons
        800
    """
    content = located(read_json_or_yaml(path), path.parent)
    known = read_description(content, f"{path}: ")
    try:
        find_schedule(known.schedule)
        if known.placement is not None:
            check_name(known.placement)
        _check_exchange(content.get("exchange"))
    except BadInput as error:
        raise error.within(file=path) from None
    return Question(
        title=path.name,
        description=content,
        rates=rates_of(known, rate),
        named=path,
        options={"run": path, "rate": rate},
        network=known.network,
    )


def of_description(
    title: str, description: dict[str, Any], rate: float | dict[str, float] | None = None
) -> Question:
    """A description that has been read. Raises BadInput where it is none, or has no rates.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> of_description("mine", mam_benchmark.describe(areas=4)).known.neurons
        20000
    """
    return Question(title, description, rates_of(description, rate))


def _plain(text: str) -> Any:
    """The number, the truth or the word that a text stands for."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)

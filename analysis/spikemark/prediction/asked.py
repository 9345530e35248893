"""The network that is asked about, a preset or the file of a run description, and how it is to run."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import read_json_or_yaml
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.network.exchanges import EXCHANGES
from spikemark.network.named_files import located
from spikemark.network.placement import check_name
from spikemark.network.placement_field import field_of
from spikemark.network.schedules import SCHEDULES, Schedule, find
from spikemark.presets import PRESETS
from spikemark.records import dry_run
from spikemark.records.dry_run import DryRun

from . import rates
from .cycles import AUTO
from .rates import Rates
from .simulators import MINI_APP, Simulator

GIVEN, STATED, LARGEST = "given", "stated by the description", "the largest that is exact"
UNSTATED = "the largest that is exact, as the description states none"
ASKS = "the largest that is exact, as the description asks for with auto"
#: What a description may state about how it is run.
WAYS = ("schedule", "placement", "delay_ratio", "lag", "exchange")


@dataclass(frozen=True)
class Network:
    """A description, its title, and the rates at which its neurons fire.

    `sources`: where the fields of WAYS come from. `own`: those of them that the file or preset states.
    `fixed`: those that were given with the question.
    `named`: the arguments of the command line that name the network.
    """

    title: str
    description: dict[str, Any]
    rates: Rates
    sources: dict[str, str] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    named: tuple[str, ...] = ()


def run_as(
    network: Network,
    schedule: str | None = None,
    delay_ratio: int | str | None = None,
    lag: int | None = None,
    exchange: str | dict | None = None,
    placement: str | None = None,
    simulator: Simulator = MINI_APP,
) -> Network:
    """The network, to be run with these; what is None is as its description states.

    A D that is neither given nor stated is the largest that is exact, whereas the mini-app takes 1. Raises
    BadInput for a D or a lag that the schedule does not use, and for what the simulator does not have.
    """
    known = read(network.description)
    used, placed = lanes.chosen(known, schedule, placement)
    simulator.check(used.name, placed, lag, exchange)
    _check_used(used, delay_ratio, lag)
    described = {n: v for n, v in network.description.items() if n not in simulator.unused}
    given = {"delay_ratio": delay_ratio, "lag": lag, "exchange": exchange}
    changed = {name: value for name, value in given.items() if value is not None}
    sources = {name: STATED for name in given if network.description.get(name) is not None}
    sources |= dict.fromkeys(changed, GIVEN)
    if delay_ratio is None and network.description.get("delay_ratio") == AUTO:
        sources["delay_ratio"] = ASKS
    if delay_ratio == AUTO or "delay_ratio" not in sources:
        changed["delay_ratio"] = AUTO
        sources["delay_ratio"] = LARGEST if delay_ratio == AUTO else UNSTATED
    sources = {name: source for name, source in sources.items() if name in described | changed}
    return replace(network, description=described | changed, sources=sources)


def _check_used(schedule: Schedule, delay_ratio: int | str | None, lag: int | None) -> None:
    """Raises BadInput for a D or a lag that the schedule does not use."""
    for name, value, uses in (("delay_ratio", delay_ratio, "uses_delay_ratio"), ("lag", lag, "lagged")):
        if value is not None and not getattr(schedule, uses):
            fitting = [s.name for s in SCHEDULES.values() if getattr(s, uses)]
            raise BadInput(
                f"{name}={value}: {schedule.name} does not use it; allowed with {', '.join(fitting)}"
            )


def for_all_schedules(
    network: Network,
    schedule: str | None = None,
    placement: str | None = None,
    delay_ratio: int | str | None = None,
    lag: int | None = None,
    exchange: str | dict | None = None,
) -> Network:
    """The network, to be tried in every way but for what is given here.

    What its description states is kept in `own`, to be tried beside the others. Raises BadInput for unknown
    names, and for a D or a lag that a given schedule does not use.
    """
    if schedule is not None:
        _check_used(find(schedule), delay_ratio, lag)
    _check_names(placement, exchange)
    given = dict(zip(WAYS, (schedule, placement, delay_ratio, lag, exchange), strict=True))
    fixed = {name: value for name, value in given.items() if value is not None}
    stated = network.description
    own = {name: stated[name] for name in WAYS if stated.get(name) is not None}
    free = {"delay_ratio": AUTO, "lag": 1} if "lag" in own else {"delay_ratio": AUTO}
    sources = dict.fromkeys(fixed, GIVEN)
    if fixed.get("delay_ratio", AUTO) == AUTO:
        sources["delay_ratio"] = LARGEST
    used = fixed if placement is None else fixed | {"placement": field_of(placement)}
    return replace(
        network, description=stated | free | used, sources=sources, own=own, fixed=frozenset(fixed)
    )


def _check_names(placement: str | None, exchange: str | dict | None) -> None:
    """Raises BadInput for unknown placements and exchanges."""
    if placement is not None:
        check_name(placement)
    of_lanes = isinstance(exchange, dict) and "name" not in exchange
    for name in exchange.values() if of_lanes else [exchange]:
        if isinstance(name, str) and name not in EXCHANGES:
            raise BadInput(f"exchange={name!r}; allowed: {', '.join(EXCHANGES)}")


def taken_by(network: Network, simulator: Simulator) -> Network:
    """The network with the cycle that the simulator takes; D, which counts cycles, is converted."""
    description, own = simulator.taken(network.description), network.own
    if "delay_ratio" in own:
        stated = network.description | {"delay_ratio": own["delay_ratio"]}
        own = own | {"delay_ratio": simulator.taken(stated)["delay_ratio"]}
    return replace(network, description=description, own=own)


def of_preset(
    name: str, full: bool = False, options: list[str] | None = None, rate: float | None = None
) -> Network:
    """A preset with `options` as 'areas=64'. Raises BadInput for an unknown name and what it refuses."""
    if name not in PRESETS:
        raise BadInput(f"preset={name!r}: known are {', '.join(PRESETS)}")
    given: dict[str, Any] = {}
    for option in options or []:
        key, sign, value = option.partition("=")
        key = key.replace("-", "_")
        if not (key and sign):
            raise BadInput(f"option={option!r}: NAME=VALUE is needed")
        if key in given:
            raise BadInput(f"option={option!r}: {key} is given twice")
        given[key] = _plain(value)
    description = PRESETS[name].describe(full=full, **given) if full else PRESETS[name].describe(**given)
    read(description)
    title = " ".join([name, *(["full size"] if full else []), *(options or [])])
    named = ["--preset", name, *["--full"] * full]
    named += [word for option in options or [] for word in ("--option", option)]
    return Network(
        title, description, rates.of(description, rate, name, given), named=_with_rate(named, rate)
    )


def of_file(path: Path, rate: float | None = None) -> Network:
    """The run description in a file. Raises BadInput for a file without one, and for unknown names."""
    description = located(read_json_or_yaml(path), path.parent)
    known = read(description, f"{path}: ")
    try:
        find(known.schedule)
        _check_names(known.placement, description.get("exchange"))
    except BadInput as reason:
        raise BadInput(f"{path}: {reason}") from None
    return Network(
        path.name, description, rates.of(description, rate), named=_with_rate(["--run", str(path)], rate)
    )


def of_description(title: str, description: dict[str, Any], rate: float | None = None) -> Network:
    """A description that has been read. Raises BadInput where it is none, or has no rates."""
    read(description)
    return Network(title, description, rates.of(description, rate))


def compute_from(folder: Path, simulator: Simulator) -> DryRun:
    """The dry run in a folder. Raises BadInput for none, and for times of another simulator."""
    if simulator.runs:
        raise BadInput(f"simulator={simulator.name}: a dry run has times of the mini-app; allowed: mini-app")
    if not dry_run.is_dry_run(folder):
        raise BadInput(
            f"compute_from={folder}: has no {dry_run.ABOUT}; allowed: a folder that `spikemark dryrun` wrote"
        )
    return dry_run.load(folder)


def as_ran(network: Network, ran: dict[str, Any]) -> Network:
    """The network; what its description leaves open of WAYS is as in the description `ran`.

    A D that neither states is 1, as the mini-app takes it.
    """
    known = {"delay_ratio": 1} | {name: ran[name] for name in WAYS if ran.get(name) is not None}
    own = {name: value for name, value in network.description.items() if value is not None}
    return replace(network, description=known | own)


def _with_rate(named: list[str], rate: float | None) -> tuple[str, ...]:
    return tuple(named if rate is None else [*named, "--rate", str(rate)])


def _plain(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)

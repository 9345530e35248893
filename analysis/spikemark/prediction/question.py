"""The network that is asked about, a preset or the file of a run description, and how it is to run."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import read_json_or_yaml
from spikemark.network.description import Description, read
from spikemark.network.exchanges import EXCHANGES
from spikemark.network.named_files import located
from spikemark.network.placement import check_name
from spikemark.network.placement_file import field_of
from spikemark.network.presets import PRESETS
from spikemark.network.schedules import SCHEDULES, find

from . import points
from .workload import Counting, Rates, rates_of

AUTO = "auto"  # D: the largest that is exact
#: Model and variant of a preset among the published points.
PUBLISHED = {
    "mam": ("multi-area model", "ground state"), "microcircuit": ("microcircuit", "Poisson input"),
    "mam-benchmark": ("MAM-benchmark", ""),
}  # fmt: skip
LONGEST_MS = 1000.0  # a cycle of a network without synapses


@dataclass(frozen=True)
class Question:
    """A description and the rates at which its neurons fire.

    `named`: the file that it is from, or the words of `spikemark preset` that write it. `fixed`: what was
    given of schedule, placement, delay_ratio, lag and exchange. `preset`: its name, if it is one at its
    published size.
    """

    title: str
    description: dict[str, Any]
    rates: Rates
    named: Path | tuple[str, ...] = ()
    fixed: dict[str, Any] = None
    preset: str | None = None

    @cached_property
    def known(self) -> Description:
        """The description, read."""
        return read(self.description)

    @cached_property
    def counting(self) -> Counting:
        """Counts the loads of this network in many ways of running it."""
        return Counting(self.known, self.rates.hz)

    @cached_property
    def free(self) -> "Question":
        """The same where only what was given is fixed, for a search: D is the largest exact one."""
        left = {n: value for n, value in self.description.items() if n not in ("placement", "lag")}
        return replace(self, description=left | {"delay_ratio": AUTO} | self.fixed)

    def way(self, **given: Any) -> "Question":
        """The same, run as given; None: as the description states. D is the largest exact one by default.

        Raises BadInput for unknown names, and for a D or a lag that a given schedule does not use.
        """
        fixed = {name: value for name, value in given.items() if value is not None}
        schedule = find(fixed["schedule"]) if "schedule" in fixed else None
        for name, uses in (("delay_ratio", "uses_delay_ratio"), ("lag", "lagged")):
            if schedule and name in fixed and not getattr(schedule, uses):
                fitting = ", ".join(s.name for s in SCHEDULES.values() if getattr(s, uses))
                raise BadInput(
                    f"{name}={fixed[name]}: {schedule.name} does not use it; expected one of {fitting}"
                )
        if "placement" in fixed:
            check_name(fixed["placement"])
            fixed["placement"] = field_of(fixed["placement"])
        _check_exchange(fixed.get("exchange"))
        ratio = self.description.get("delay_ratio") or AUTO
        return replace(self, description=self.description | {"delay_ratio": ratio} | fixed, fixed=fixed)

    def simulated_by(self, simulator: str, version: str, machine: points.Machine, nodes: int) -> points.Run:
        """The run of a production simulator: a rank on each socket, cycles of the shortest delay."""
        network, step = self.known.network, self.known.time.resolution_ms
        sizes = np.array([p.size for p in network.populations], dtype=float)
        shortest = self.known.shortest.min(initial=np.inf)
        model, variant = PUBLISHED.get(self.preset, (self.title, ""))
        like = next((run.network for run in points.published() if run.network.model == model), None)
        if like is None:
            longest = step * max((longest for _, longest in self.known.delays), default=1)
            poisson = any(p.outside_hz for p in network.populations)
            like = points.Network(model, variant, 0, 0, 0, delay_ms=longest, poisson=poisson)
        of = replace(  # a published network has more to say than its size
            like, model=model, variant=variant, neurons=float(sizes.sum()), synapses=float(network.synapses),
            rate_hz=float(sizes @ self.rates.hz / max(sizes.sum(), 1)), step_ms=step,
            cycle_ms=step * shortest if np.isfinite(shortest) else LONGEST_MS,
        )  # fmt: skip
        each = machine.sockets
        threads = max(1, machine.cores // each)
        return points.Run(simulator, version, of, machine, nodes, each * nodes, threads)


def machine_of(profile: Any) -> points.Machine:
    """The machine of a profile as anchors know it: one of the published points, or by its own name."""
    known = next((m for word, m in points.MACHINES.items() if word.lower() in profile.title.lower()), None)
    if known is not None:
        return known
    value = {path: found.value for path, found in profile.values.items()}
    cores, sockets = round(value["node.cores"]), round(value.get("node.sockets", 2))
    cache = value.get("node.l3", 20480) / 1024 / value.get("node.l3_cores", 8)

    def letters(text: str) -> str:
        return re.sub(r"[^a-z0-9]", "", text.lower())

    processors = {m.processor for m in points.MACHINES.values() if m.processor}
    processor = next((p for p in processors if letters(p) in letters(profile.title)), "")
    clock = value.get("node.clock", 2.5)
    return points.Machine(profile.name, clock, cache, cores, min(sockets, cores), cores <= 8, processor)


def _check_exchange(exchange: Any) -> None:
    of_lanes = isinstance(exchange, dict) and "name" not in exchange
    for name in exchange.values() if of_lanes else [exchange]:
        if isinstance(name, str) and name not in EXCHANGES:
            raise BadInput(f"exchange={name!r}; expected one of {', '.join(EXCHANGES)}")


def of_preset(
    name: str, full: bool = False, options: list[str] | None = None, rate: float | None = None
) -> Question:
    """A preset with `options` as 'areas=64'. Raises BadInput for an unknown name and what it refuses."""
    if name not in PRESETS:
        raise BadInput(f"preset={name!r}: expected one of {', '.join(PRESETS)}")
    given: dict[str, Any] = {}
    for option in options or []:
        key, sign, value = option.partition("=")
        key = key.replace("-", "_")
        if not (key and sign) or key in given:
            raise BadInput(f"option={option!r}: expected NAME=VALUE, each name once")
        given[key] = _plain(value)
    description = PRESETS[name].describe(**({"full": True} if full else {}), **given)
    title = " ".join([name, *(["full size"] if full else []), *(options or [])])
    named = [name, *["--full"] * full]
    for key, value in given.items():
        named += [f"--{key.replace('_', '-').rstrip('-')}", *([] if value is True else [str(value)])]
    whole = name if full and not given else None
    return Question(title, description, rates_of(description, rate, name, given), tuple(named), {}, whole)


def of_file(path: Path, rate: float | None = None) -> Question:
    """The run description in a file. Raises BadInput for a file without one, and for unknown names."""
    description = located(read_json_or_yaml(path), path.parent)
    known = read(description, f"{path}: ")
    try:
        find(known.schedule)
        if known.placement is not None:
            check_name(known.placement)
        _check_exchange(description.get("exchange"))
    except BadInput as reason:
        raise BadInput(f"{path}: {reason}") from None
    return Question(path.name, description, rates_of(known, rate), path, {})


def of_description(title: str, description: dict[str, Any], rate: Any = None) -> Question:
    """A description that has been read. Raises BadInput where it is none, or has no rates."""
    return Question(title, description, rates_of(description, rate), (), {})


def _plain(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)

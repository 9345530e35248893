"""Reads what other commands predicted: JSON that they printed, and folders that they wrote.

Each reader gives predictions as fields of an entry: method, figures, run, profile. A number without an
interval is no prediction that could fail. It is left out, unless the person who adds it states an interval.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.network.description import read_time
from spikemark.network.placement_field import field_of
from spikemark.network.schedules import LANES, called
from spikemark.prediction.measured import within
from spikemark.prediction.simulators import MINI_APP
from spikemark.records import dry_run, record, run_files
from spikemark.records.phases import COMPUTE
from spikemark.records.record import Run

from . import same_run
from .entry import METHODS, figure
from .quantities import PER_SECOND, QUANTITIES

OWN = "of the prediction"  # where intervals come from
FIRST_CALLED = "base"  # the change of `whatif` that changes nothing
FILES = "JSON of predict or whatif, or the folder of a dry run or of a simulated run"
MAPPING = "a JSON object that `predict --json` or `whatif --json` printed"


@dataclass(frozen=True)
class Given:
    """What the person who adds a prediction says of it.

    `base`: the run that a predictor was fitted on, and `changed` the fields of its description that the
    predicted run changes. `change`: which one of `whatif`. `stated`: a share, such as 0.3 for 30 %, within
    which numbers without an interval are said to be. `simulated`: the run will be simulated.
    """

    base: Run | None = None
    change: str | None = None
    changed: dict[str, Any] | None = None
    stated: float | None = None
    simulated: bool = False


def found(path: Path, given: Given) -> list[dict[str, Any]]:
    """The predictions in a file or folder, each as fields of an entry that are known by now.

    Raises BadInput for what holds no prediction, or needs what was not `given`.
    """
    path = Path(path)
    if path.is_dir():
        dry = dry_run.is_dry_run(path)
        if not (dry or run_files.whole(path)):
            raise BadInput(f"{path}: holds no prediction; allowed: {FILES}")
        own = path / (dry_run.ABOUT if dry else run_files.RECORD)
        made = [_dry_run(path, given) if dry else _simulated(path, given)]
    else:
        content, own = read_json(path), path
        if not isinstance(content, dict):
            raise BadInput(f"{path}: holds {type(content).__name__}; allowed: {MAPPING}")
        if given.stated is not None:
            raise BadInput(f"within: not for {path}, whose numbers have intervals")
        made = [*_reader(content, path)(content, path, given)]
    if lacking := next((one for one in made if not one["figures"]), None):
        raise BadInput(f"{path}: {lacking['method']}: no number with an interval, which alone could fail")
    sha = hashlib.sha256(own.read_bytes()).hexdigest()
    return [{**one, "source_sha256": sha} for one in made]


def _reader(content: dict[str, Any], path: Path) -> Callable[..., Iterator[dict[str, Any]]]:
    if isinstance(content.get("predictions"), list):
        return _on_machine
    if isinstance(content.get("changes"), dict):
        return _whatif
    if content and all(isinstance(one, dict) and "waiting_s" in one for one in content.values()):
        return _other_schedule
    raise BadInput(f"{path}: holds no prediction; allowed: {MAPPING}")


def _on_machine(content: dict[str, Any], path: Path, given: Given) -> Iterator[dict[str, Any]]:
    """`predict --machine --json`: every number of ranks is a prediction."""
    description, profile = (_field(content, name, dict, path) for name in ("description", "profile"))
    if content.get("simulator") != MINI_APP.name:
        raise BadInput(f"{path}: simulator={content.get('simulator')!r}; allowed: {MINI_APP.name}")
    if _field(content, "simulated", bool, path) is not given.simulated:
        raise BadInput(
            f"{path}: simulated={content['simulated']}: give --simulated to both commands or to neither"
        )
    for number, one in enumerate(content["predictions"]):
        at = f"predictions.{number}"
        if not isinstance(one, dict):
            raise BadInput(f"{path}: {at}: allowed is an object")
        figures = {
            name: made
            for name, content_of in _field(one, "figures", dict, path, at).items()
            if name in QUANTITIES and (made := _figure(content_of, f"{path}: {at}.figures.{name}"))
        }
        ratio, schedule = one.get("delay_ratio"), _field(one, "schedule", str, path, at)
        run = description | {"placement": field_of(_field(one, "placement", str, path, at))}
        run |= {} if schedule == LANES else {"schedule": schedule}
        run |= {} if ratio is None else {"delay_ratio": ratio}
        ranks, threads = (_field(one, name, int, path, at) for name in ("ranks", "threads"))
        machine = _field(profile, "name", str, path, "profile")
        yield {
            "method": "dry_run+profile" if one.get("compute_from") else "profile", "figures": figures,
            "run": same_run.about(run, ranks, threads, machine if given.simulated else None),
            "profile": profile, "limits": OWN, "source": "predict --machine",
        }  # fmt: skip


def _other_schedule(content: dict[str, Any], path: Path, given: Given) -> Iterator[dict[str, Any]]:
    """`predict RUN_DIR --json`: every predictor is a method."""
    yield from _by_predictors(content, path, given, "predict RUN_DIR")


def _whatif(content: dict[str, Any], path: Path, given: Given) -> Iterator[dict[str, Any]]:
    """`whatif --json`: one of its changes, by every predictor."""
    changes = content["changes"]
    if given.change not in changes:
        names = ", ".join(name for name in changes if name != FIRST_CALLED)
        raise BadInput(f"change={given.change!r}; allowed with {path}: {names}")
    yield from _by_predictors(changes[given.change], path, given, f"whatif {given.change}")


def _by_predictors(made: dict[str, Any], path: Path, given: Given, source: str) -> Iterator[dict[str, Any]]:
    base = given.base
    if base is None:
        raise BadInput("of: missing; needed for a prediction from a run: the folder of that run")
    if base.record.ranks == 1:
        raise BadInput(f"of={base.path}: one rank, which waits for nobody; allowed: a run of several")
    cycle_s = 1e-3 * read_time(base.record.description).cycle_ms
    machine = None if base.simulation is None else base.simulation["machine"]
    threads = same_run.threads(base)
    for name, one in made.items():
        if name not in METHODS:
            raise BadInput(f"{path}: predictor {name!r}; allowed: {', '.join(METHODS)}")
        if one.get("reason"):
            raise BadInput(f"{path}: {name}: refused: {one['reason']}")
        cycles = _field(one, "cycles", int, path, name)
        per_second = 1 / (cycles * cycle_s)
        numbers = {
            "waiting": (one.get("waiting_s"), one.get("run_interval"), PER_SECOND),
            "real_time_factor": (one.get("runtime_s"), one.get("run_runtime_interval"), "1"),
        }
        figures = {}
        for what, (value, limits, unit) in numbers.items():
            kept = {"value": value, "interval": limits, "unit": unit, "kind": "modelled"}
            if read := _figure(kept, f"{path}: {name}.{what}", per_second):
                figures[what] = read
        schedule = _field(one, "schedule", str, path, name)
        known = called(schedule)
        description = dict(base.record.description) | {"schedule": schedule}
        if known and (own := called(base.schedule)) and known.placement != own.placement:
            description["placement"] = known.placement
        if known and known.uses_delay_ratio:
            description["delay_ratio"] = _field(one, "delay_ratio", int, path, name)
        if known and known.lagged:
            description["lag"] = _field(one, "lag", int, path, name)
            description.pop("exchange", None)  # a lane with a lag needs one that goes on beside computing
        description |= given.changed or {}
        ranks = _field(one, "ranks", int, path, name)
        yield {
            "method": name, "figures": figures, "profile": None, "limits": OWN,
            "run": same_run.about(description, ranks, threads, machine), "source": source,
        }  # fmt: skip


def _dry_run(path: Path, given: Given) -> dict[str, Any]:
    """The folder of a dry run: computing, as a mean over all ranks of the machine."""
    made = dry_run.load(path)
    about, doubts = made.about, made.doubts
    cycle_s = 1e-3 * read_time(about.description).cycle_ms
    if made.doubt is not None and given.stated is not None:
        raise BadInput(f"within: not for {path}, whose numbers have intervals")
    if made.doubt is None and given.stated is None:
        raise BadInput(f"within: missing; needed for a dry run of one rank, which has no interval: {path}")
    mean = made.means().mean(axis=0) / cycle_s
    numbers = dict(zip((*COMPUTE, "compute"), (*mean, mean.sum()), strict=True))
    known = [None] * len(numbers) if doubts is None else [*doubts, made.doubt]
    figures = {}
    for (name, value), doubt in zip(numbers.items(), known, strict=True):
        if doubt is None:
            limits = _around(value, given.stated)
        else:
            less, more = within(made, doubt)
            limits = max(0.0, value * (1 - less)), value * (1 + more)
        if name in QUANTITIES:
            figures[name] = figure(value, limits, PER_SECOND, "measured")
    return {
        "method": "dry_run", "figures": figures, "profile": None, "limits": _limits(given),
        "run": same_run.about(about.description, made.ranks, about.threads), "source": "dryrun",
    }  # fmt: skip


def _simulated(path: Path, given: Given) -> dict[str, Any]:
    """A simulated run, as a prediction of a measured one; it has no intervals of its own."""
    made = record.load(path)
    about = made.simulation
    if about is None:
        raise BadInput(f"{path}: a measured run; allowed: {FILES}")
    if given.stated is None:
        raise BadInput("within: missing; needed for a simulated run, which has no intervals: such as 30%")
    numbers = {name: each.of(made) for name, each in QUANTITIES.items()}
    figures = {
        name: figure(one.value, _around(one.value, given.stated), one.unit, "simulated")
        for name, one in numbers.items()
        if one
    }
    profile = {"name": about["machine"], "digest": about["profile"]} if "profile" in about else None
    how = about.get("compute") if about.get("compute") in ("model", "execute") else "replay"
    return {
        "method": "simulation", "figures": figures, "profile": profile, "limits": _limits(given),
        "run": same_run.about(made.record.description, made.record.ranks, same_run.threads(made)),
        "source": f"simulate --compute {how}",
    }  # fmt: skip


def _figure(content: Any, where: str, times: float = 1.0) -> dict[str, Any] | None:
    """A figure from JSON; None without a number or without an interval."""
    if content is None or (isinstance(content, dict) and content.get("value") is None):
        return None
    if not isinstance(content, dict) or not _is_number(content["value"]):
        raise BadInput(f"{where}: allowed is a number with its interval")
    limits = content.get("interval")
    if limits is None:
        return None
    if not (isinstance(limits, list | tuple) and len(limits) == 2 and all(map(_is_number, limits))):
        raise BadInput(f"{where}.interval={limits!r}: allowed are two numbers")
    low, high = (times * x for x in limits)
    return figure(times * content["value"], (low, high), str(content.get("unit")), str(content.get("kind")))


def _around(value: float, share: float) -> tuple[float, float]:
    return value / (1 + share), value * (1 + share)


def _limits(given: Given) -> str:
    return OWN if given.stated is None else f"stated: within {100 * given.stated:g} %"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _field(content: dict[str, Any], name: str, kind: type, path: Path, at: str = "") -> Any:
    value = content.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        where = f"{at}.{name}".lstrip(".")
        raise BadInput(
            f"{path}: {where}: missing or of another type; allowed is {kind.__name__}: print the prediction"
            " with this version"
        )
    return value

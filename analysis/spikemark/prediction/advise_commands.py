"""The commands that repeat an advice: the same prediction, and the same run with the simulator."""

import json
import shlex
from pathlib import Path
from typing import Any

from spikemark.network.placement_field import field_of
from spikemark.network.schedules import LANES

from . import simulators
from .advise import Advice
from .nest import UNBOUND, HowTo
from .predict import Prediction

OUT = "out/advice"
JSON_OF_YAML = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"


def predicting(made: Advice) -> str:
    """The command that predicts the best option, with the same middle of the real-time factor."""
    p, words = made.best.prediction, ["spikemark", "predict", *made.network.named]
    words += ["--machine", made.named, "--ranks", p.ranks, "--threads", p.threads]
    words += ["--ranks-per-node", p.node.ranks]
    for field, value in _way(p).items():
        option = f"--{field.replace('_', '-')}"
        each = [f"{lane}={name}" for lane, name in value.items()] if isinstance(value, dict) else [value]
        words += [word for text in each for word in (option, text)]
    if made.simulator != simulators.MINI_APP.name:
        words += ["--simulator", made.simulator]
    return shlex.join(map(str, words))


def how_to(made: Advice) -> HowTo | None:
    """What a user of another simulator does; None for the mini-app."""
    p, how = made.best.prediction, simulators.find(made.simulator).how
    return None if how is None else how(p.node, p.ranks, p.loads.cycle_s)


def in_script(made: Advice) -> list[str]:
    """What the user's own script has to say; nothing for the mini-app."""
    found = how_to(made)
    return found.script if found else []


def running(made: Advice) -> list[str]:
    """The commands that run the simulator as the best option says."""
    if found := how_to(made):
        return [found.command]
    p = made.best.prediction
    first, path = _description(made.network.named)
    mapping = ["--map-by", f"ppr:{p.node.ranks}:node:PE={p.threads}"]
    return [*first, f"OMP_NUM_THREADS={p.threads} {_started(p, mapping, path)}"]


def on_fewer_cores(made: Advice) -> str:
    """The command that starts as many ranks on a machine with fewer cores; nothing is bound."""
    if found := how_to(made):
        return found.on_fewer_cores
    path = _description(made.network.named)[1]
    return f"OMP_NUM_THREADS=1 {_started(made.best.prediction, UNBOUND, path)}"


def _started(p: Prediction, mapping: list[str], path: str) -> str:
    """How mpirun starts the mini-app; `mapping` says on which cores."""
    words = ["mpirun", "-n", p.ranks, *mapping, "-x", "OMP_NUM_THREADS", "miniapp", path, "--out", OUT]
    for field, value in (_way(p) | {"placement": field_of(p.placement)}).items():
        text = json.dumps(value) if isinstance(value, dict) else value
        words += ["--set", f"{field}={text}"]
    return shlex.join(map(str, words))


def _way(p: Prediction) -> dict[str, Any]:
    """How the option is run: fields of a description that the schedule uses."""
    schedule = p.loads.schedule
    found: dict[str, Any] = {} if schedule.name == LANES else {"schedule": schedule.name}
    found["placement"] = p.placement
    if p.loads.delay_ratio is not None:
        found["delay_ratio"] = p.loads.delay_ratio
    if schedule.lagged:
        found["lag"] = p.loads.description.lag
    lanes = {lane.name: lane.exchange for lane in p.loads.lanes if not lane.alone}
    return found | ({"exchange": lanes} if lanes else {})


def _description(named: tuple[str, ...]) -> tuple[list[str], str]:
    """What writes the description as JSON, which is all that the mini-app reads, and its file."""
    given = list(named)
    if given[:1] == ["--run"]:
        path = Path(given[1])
        if path.suffix not in (".yaml", ".yml"):
            return [], str(path)
        to = "run.json"  # not beside the description, where another file may have this name
        return [f"python -c {shlex.quote(JSON_OF_YAML)} < {shlex.quote(str(path))} > {shlex.quote(to)}"], to
    words = ["spikemark", "preset", given[1], *["--full"] * ("--full" in given)]
    options = [given[i + 1].partition("=") for i, word in enumerate(given) if word == "--option"]
    for name, _, value in options:
        words += [f"--{name.rstrip('_').replace('_', '-')}", *([] if value == "true" else [value])]
    return [f"{shlex.join(words)} > run.json"], "run.json"

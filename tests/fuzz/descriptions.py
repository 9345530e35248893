"""Random run descriptions, most of them damaged, and what the mini-app and the analysis say of
them.

Both must accept or refuse the same descriptions and name the same field. First come descriptions as
they are drawn, some of which cannot be run on their ranks. Those that the mini-app accepts are then
damaged in one place: a misspelt, missing or unknown field at any level, a value of another type,
out of range, null, NaN, or one that contradicts other fields. The mini-app looks at all of a batch
in one process.
"""

import copy
import json
import math
import random
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import drawn
import layouts

from spikemark.network.named_files import located
from spikemark.running import possible

#: Values that a damaged field may have.
ODD = (
    None,
    True,
    False,
    "",
    "text",
    "1",
    "0",
    "auto",
    "D",
    "area",
    "world",
    "self",
    "two_level",
    "constant",
    "from_file",
    0,
    1,
    -1,
    2,
    3,
    1.0,
    2.0,
    40.0,
    0.5,
    -5,
    1e-3,
    1e-9,
    5e-324,
    1e6,
    1e7,
    1e13,
    2**31,
    2**53,
    2**53 + 1,
    10**30,
    math.nan,
    math.inf,
    -math.inf,
    [],
    {},
    [None],
    [1, "a"],
    [1, 1],
    ["a", "a"],
    [[]],
    {"mean": 1},
    {"mean": -1, "sd": 5},
    {"name": "p2p"},
    {"name": 3},
    {"name": "multi_level", "parts": 3},
    {"name": "two_level", "group": 10**7},
    {"far": "p2p", "near": 3},
    "\0",
)
#: Factors of a damaged number.
FACTORS = (-1, 0, 1.0, 0.5, 1 + 1e-7, 3, 7, 1000, 1e-3, 1e6, 1e-8, 1e9)
#: How often each of the accepted descriptions is damaged.
DAMAGES = 8


@dataclass
class Case:
    """A description in a folder, to be run on so many ranks and threads."""

    description: dict[str, Any]
    ranks: int
    threads: int
    files: dict[str, Any] = field(default_factory=dict)
    damage: str = ""


@dataclass(frozen=True)
class Verdict:
    """What one side says: the field that it refuses and its line; both are empty where it
    accepts.
    """

    field: str = ""
    line: str = ""


def draw(number: int, known: dict[str, Any]) -> Case:
    """A random description; `known`: what the mini-app lists."""
    rng = random.Random(number)
    description = drawn.network(rng, [model["name"] for model in known["neuron_models"]])
    populations = description["network"]["populations"]
    areas = sorted({population["area"] for population in populations})
    ranks = min(rng.choice((1, 2, 3, 4, 6, 8)), len(areas) if rng.random() < 0.8 else 8)
    threads = rng.choice((1, 2))
    neurons = sum(population["size"] for population in populations)
    way = drawn.Draw(rng, ranks, neurons, drawn.ordinary(known))
    description |= {
        "schedule": way.schedule(known, areas),
        "placement": way.placement(known),
        "exchange": way.exchange(known),
        "wire": rng.choice(("compact", "aer12")),
        "delay_ratio": rng.choice(("auto", "auto", 1, 2)),
        "lag": rng.choice((1, 1, 2)),
        "record": _record(rng),
        "inject": _inject(rng, ranks),
    }
    for population in populations:
        _add_parameters(rng, population["neuron"], known)
    for name in ("placement", "exchange", "wire", "delay_ratio", "lag", "record", "inject", "seed"):
        if rng.random() < 0.4:
            del description[name]
    return Case(description, ranks, threads, way.files)


def damaged(case: Case, number: int) -> Case:
    """The same with one damage."""
    description = copy.deepcopy(case.description)
    damage = _damage(random.Random(number), description)
    return Case(description, case.ranks, case.threads, case.files, damage)


def _record(rng: random.Random) -> dict[str, Any]:
    counters = rng.choice((True, False, ["cycles"], ["instructions", "page_faults"]))
    record = {
        "cycles": rng.random() < 0.5,
        "spikes": True,
        "barrier": False,
        "counters": counters,
        "energy": True,
        "energy_interval_s": rng.choice((0.001, 30, 1)),
        "energy_sensors": rng.choice(([], ["a/b", "c/d"])),
        "idle_pause_s": rng.choice((0, 3600)),
    }
    return {name: value for name, value in record.items() if rng.random() < 0.5}


def _inject(rng: random.Random, ranks: int) -> dict[str, Any]:
    inject = {
        "mean_us": rng.choice((0, 5, 1e7)),
        "sd_us": 2.5,
        "correlation": rng.choice((0, 0.9999)),
        "rank_sd_us": 1,
        "per_synapse_ns": rng.choice((0, [3] * ranks)),
        "per_neuron_ns": rng.choice((1e6, [0.5])),
        "minor_mode": {"share": 0.5, "factor": 2},
        "wait": rng.choice(("spin", "sleep")),
    }
    return {name: value for name, value in inject.items() if rng.random() < 0.5}


def _add_parameters(rng: random.Random, neuron: dict[str, Any], known: dict[str, Any]) -> None:
    """Gives a neuron some of the parameters of its model, at their defaults and limits."""
    model = next(model for model in known["neuron_models"] if model["name"] == neuron["model"])
    for parameter in model["parameters"]:
        if rng.random() < 0.15:
            value = rng.choice((parameter["default"], parameter["low"], parameter["high"]))
            voltage = parameter["name"] in ("V_th_mV", "V_reset_mV")  # the one is below the other
            neuron[parameter["name"]] = parameter["default"] if voltage else value


def _places(content: Any, path: tuple = ()) -> list[tuple]:
    """The paths of all fields and items."""
    if isinstance(content, dict):
        parts = list(content.items())
    elif isinstance(content, list):
        parts = list(enumerate(content))
    else:
        return []
    places = [(*path, name) for name, _ in parts]
    for name, part in parts:
        places += _places(part, (*path, name))
    return places


def _damage(rng: random.Random, description: dict[str, Any]) -> str:
    """Damages one field of the description in place, and says how."""
    *path, last = rng.choice(_places(description))
    parent: Any = description
    for step in path:
        parent = parent[step]
    where = ".".join(map(str, (*path, last)))
    kind = rng.choice(
        ("misspell", "add", "remove", "odd", "odd", "odd", "scale", "scale", "repeat", "empty")
    )
    if kind == "misspell" and isinstance(last, str):
        at = rng.randrange(len(last))
        name = last[:at] + rng.choice(("", "x", last[at].swapcase())) + last[at + 1 :]
        parent[name or "x"] = parent.pop(last)
        return f"{where} as {name or 'x'}"
    if kind == "add" and isinstance(parent, dict):
        parent[rng.choice(("x", "comment", "rate", "tau_m", "V_th_mV", "rate_hz", "name"))] = (
            rng.choice(ODD)
        )
        return f"more fields beside {where}"
    if kind == "remove":
        del parent[last]
        return f"no {where}"
    value = parent[last]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "scale" and number:
        parent[last] = value * rng.choice(FACTORS)
    elif kind == "repeat" and isinstance(value, list) and value:
        value.append(copy.deepcopy(rng.choice(value)))
    elif kind == "empty" and isinstance(value, dict | list):
        value.clear()
    else:
        parent[last] = copy.deepcopy(rng.choice(ODD))
    return f"{where}={parent[last]!r}"


def of_the_miniapp(cases: list[Case], folder: Path) -> list[Verdict]:
    """What the mini-app says of the cases, whose files go to numbered folders."""
    asked = []
    for number, case in enumerate(cases):
        place = folder / str(number)
        place.mkdir(parents=True)
        for name, content in {"run.json": case.description, **case.files}.items():
            (place / name).write_text(json.dumps(content))
        asked.append(
            {"file": str(place / "run.json"), "ranks": case.ranks, "threads": case.threads}
        )
    (folder / "cases.json").write_text(json.dumps(asked))
    done = subprocess.run(
        [layouts.PLAIN, "--explain", folder / "cases.json"],
        env=layouts.program.ENVIRONMENT | dict(layouts.os.environ),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    lines = [
        json.loads(line).get("refused", "") for line in done.stdout.splitlines() if line[:1] == "{"
    ]
    assert len(lines) == len(cases), done.stderr
    return [Verdict(_field(line, str(folder)), line) for line in lines]


def of_the_analysis(case: Case, folder: Path) -> Verdict:
    """What the analysis says of a case whose files are in the folder."""
    line, _ = possible.refusal(located(case.description, folder), case.ranks, case.threads)
    return Verdict(_field(line or "", str(folder)), line or "")


def _field(line: str, folder: str) -> str:
    """The field that a line names; empty where it is about a file that cannot be read."""
    if folder in line.partition("; ")[0]:
        return ""
    return re.match(r"[^:= ]*", line)[0]


#: Of the mini-app's refusal of more synapse lists on a rank than a word can name: how many lists
#: there are, only the mini-app estimates.
UNTIL_DRAWN = "which a four-byte spike can name"


def disagreement(case: Case, miniapp: Verdict, analysis: Verdict) -> str:
    """How the two differ; empty where they agree.

    Fields agree where one is part of the other. A file that cannot be read has no fields, and what
    is not damaged may be refused for several reasons.
    """
    if UNTIL_DRAWN in miniapp.line and not analysis.line:
        return ""
    same = bool(miniapp.line) == bool(analysis.line)
    if same and case.damage and miniapp.field and analysis.field:
        short, long = sorted((miniapp.field, analysis.field), key=len)
        same = f"{long}.".startswith(f"{short}.")
    if same:
        return ""
    said = [verdict.line or "accepted" for verdict in (miniapp, analysis)]
    return f"{case.damage or 'valid'}: mini-app: {said[0]} | analysis: {said[1]}"


def compare(cases: list[Case], folder: Path) -> tuple[list[str], list[Case]]:
    """The disagreements about some cases, and the cases that the mini-app accepts."""
    found, accepted = [], []
    for number, (case, miniapp) in enumerate(
        zip(cases, of_the_miniapp(cases, folder), strict=True)
    ):
        try:
            words = disagreement(case, miniapp, of_the_analysis(case, folder / str(number)))
        except Exception as error:  # which is what is looked for
            words = f"{case.damage}: {type(error).__name__}: {error}"
        if words:
            found.append(words)
        if not miniapp.line:
            accepted.append(case)
    return found, accepted


def campaign(
    first: int, number: int, known: dict[str, Any], folder: Path
) -> tuple[list[str], int, int]:
    """The disagreements about at least so many descriptions, how many there were, and were
    accepted.
    """
    found, asked, accepted = [], 0, 0
    while asked < number:
        drawn_cases = [draw(first + asked + n, known) for n in range(min(number, 200))]
        wrong, good = compare(drawn_cases, folder / f"{asked}-drawn")
        worse = [damaged(case, asked + n) for n, case in enumerate(good * DAMAGES)]
        more_wrong, still_good = compare(worse, folder / f"{asked}-damaged")
        found += wrong + more_wrong
        asked += len(drawn_cases) + len(worse)
        accepted += len(good) + len(still_good)
    return found, asked, accepted

"""The layout fuzzer: whichever way a random network is run, the same comes out as by brute force.

A layout is what a description, mpirun and OpenMP say about the way: ranks, threads, lanes, placement,
exchanges, wire formats, lags and D. The names come from `miniapp --list --json`, so that a new exchange or
placement joins on arrival; one that needs further fields has a rule in EXCHANGES or PLACEMENTS.

A refusal is a result, too: it must be one line. Counts other than first accesses are those of brute force.
First accesses depend on ranks, threads, placement and lanes, and on nothing else.
"""

import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import drawn
import program
from rules import EXCHANGES, PLACEMENTS, Draw

ROOT = Path(__file__).parents[2]
PLAIN, CHECKED = ROOT / "build" / "run_layouts", ROOT / "build" / "run_layouts_checked"
#: With the thread sanitizer of clang, and its OpenMP, whose Archer tells the sanitizer of barriers.
THREADS = ROOT / "build-tsan" / "run_layouts"
MOST_RANKS, MOST_THREADS = 7, 3
SAME = ("checksum", "spikes", "synaptic_events", "external_events", "synapses")
ALONE_S = 300  # a batch takes seconds; what takes so long hangs

ENVIRONMENT = program.ENVIRONMENT | {
    "ASAN_OPTIONS": "detect_leaks=0",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",  # MPI has threads of its own
}


def registries(miniapp: Path = ROOT / "build" / "miniapp") -> dict[str, Any]:
    """What `miniapp --list --json` prints."""
    return json.loads(subprocess.run([miniapp, "--list", "--json"], check=True, capture_output=True).stdout)


def exchange(draw: Draw, known: dict[str, Any]) -> str | dict[str, Any]:
    """An exchange that can serve the ranks."""
    fitting = [
        x for x in known["exchanges"]
        if not x["absent"] and (x["ranks_max"] == 0 or x["ranks_max"] >= draw.ranks)
    ]  # fmt: skip
    composed = [x for x in fitting if x["composed"]]  # which differ most
    name = draw.rng.choice(composed if composed and draw.rng.random() < 0.3 else fitting)["name"]
    return {"name": name, **EXCHANGES[name](draw)} if name in EXCHANGES else name


def placement(draw: Draw, known: dict[str, Any]) -> str | dict[str, Any]:
    """A placement."""
    name = draw.rng.choice([p["name"] for p in known["placements"]])
    return {"name": name, **PLACEMENTS[name](draw)} if name in PLACEMENTS else name


def schedule(draw: Draw, known: dict[str, Any], areas: list[str]) -> str | list[dict[str, Any]]:
    """A schedule by its name, or a list of lanes."""
    rng = draw.rng
    if rng.random() < 0.6:
        return rng.choice([s["name"] for s in known["schedules"]])
    lanes = []
    if rng.random() < 0.5:
        lanes.append({"group": "area"})
    lanes += [_between(rng, areas) for _ in range(rng.choice((0, 0, 1, 3)))]
    divisors = [n for n in range(1, draw.ranks) if draw.ranks % n == 0]
    if divisors and rng.random() < 0.5:
        lanes.append({"group": rng.choice(divisors)})
    lanes.append({})
    for number, lane in enumerate(lanes):
        lane |= {"name": f"lane{number}", "period": rng.choice((1, "auto", "auto", "D"))}
        lane |= {"lag": rng.choice((0, 0, 1, 2))}
    return lanes


def _between(rng: random.Random, areas: list[str]) -> dict[str, Any]:
    """Areas of a lane."""
    sides = {side: rng.sample(areas, rng.randint(1, len(areas))) for side in ("from", "to")}
    if rng.random() < 0.3:
        del sides[rng.choice(("from", "to"))]
    return sides


@dataclass
class Case:
    """A network in a layout; `group` names what first accesses depend on."""

    network: int
    run: dict[str, Any]
    threads: int
    group: str = ""
    files: dict[str, Any] = field(default_factory=dict)

    @property
    def content(self) -> dict[str, Any]:
        return {"run": self.run, "threads": self.threads, "files": self.files}


@dataclass
class Tally:
    """What became of layouts."""

    ran: int = 0
    refused: Counter = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    seen: Counter = field(default_factory=Counter)  # layouts that ran, by name of what they used

    def add(self, other: "Tally") -> None:
        """Takes in another tally."""
        self.ran += other.ran
        self.refused += other.refused
        self.findings += other.findings
        self.seen += other.seen


def cases(rng, known, networks: list[dict], ranks: int, each: int) -> Iterator[Case]:
    """Layouts of every network on so many ranks: each placement and schedule with three ways to exchange."""
    absent = {x["name"] for x in known["exchanges"] if x["absent"] or x["broadcast"] or x["composed"]}
    ordinary = [x["name"] for x in known["exchanges"] if x["name"] not in absent and x["ranks_max"] == 0]
    for number, network in enumerate(networks):
        populations = network["network"]["populations"]
        for _ in range(each):
            draw = Draw(rng, ranks, sum(p["size"] for p in populations), ordinary)
            fixed = {
                "placement": placement(draw, known),
                "schedule": schedule(draw, known, sorted({p["area"] for p in populations})),
                "lag": rng.choice((1, 1, 2)),
            }
            threads = rng.randint(1, MOST_THREADS)
            group = json.dumps([number, ranks, threads, fixed["placement"], draw.files, fixed["schedule"]])
            for _ in range(3):
                way = {
                    "delay_ratio": rng.choice(("auto", "auto", 1, 2)),
                    "exchange": exchange(draw, known),
                    "wire": rng.choice([w["name"] for w in known["wires"]]),
                    "record": {"barrier": rng.random() < 0.7},
                }
                if rng.random() < 0.1:
                    way["inject"] = {"mean_us": 20, "sd_us": 20, "wait": rng.choice(("spin", "sleep"))}
                yield Case(number, {**network, **fixed, **way}, threads, group, dict(draw.files))


def run(program: Path, ranks: int, todo: list[Case], folder: Path) -> tuple[list[dict], str]:
    """A line for each of the first cases, and why there are no more: empty if there are all."""
    file = folder / "cases.json"
    file.write_text(json.dumps([case.content for case in todo]))
    command = ["mpirun", "--quiet", "-n", str(ranks), str(program), str(file)]
    try:
        done = subprocess.run(
            command, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, timeout=ALONE_S,
            stdin=subprocess.DEVNULL, errors="replace", cwd=folder,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        return _lines((late.stdout or b"").decode(errors="replace")), f"no end within {ALONE_S} s"
    found = _lines(done.stdout)
    whole = done.returncode == 0 and len(found) == len(todo)
    return found, "" if whole else f"exit status {done.returncode}: {_reason(done.stderr)}"


def _lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]


def _reason(said: str) -> str:
    """What the program said, without what mpirun adds."""
    told = [line for line in said.splitlines() if line.strip() and not line.startswith("-----")]
    first = next((i for i, line in enumerate(told) if "rror" in line or "WARNING" in line), 0)
    return " | ".join(told[first : first + 12])


def compare(todo: list[Case], found: list[dict], expected: dict[int, dict], ranks: int) -> Tally:
    """What differs from brute force, {number of the network: counts}, or within a group."""
    tally, entered = Tally(), {}
    for case, outcome in zip(todo, found, strict=False):
        about = f"on {ranks} ranks: {json.dumps(case.content)}"
        if "refused" in outcome:
            line = outcome["refused"]
            if not line or "\n" in line or "allowed" not in line:
                tally.findings.append(f"refused by {line!r} {about}")
            tally.refused[line.split(":")[0]] += 1
            continue
        tally.ran += 1
        tally.seen.update(_names(case.run))
        wrong = [name for name in SAME if outcome[name] != expected[case.network][name]]
        if wrong:
            told = {name: (outcome[name], expected[case.network][name]) for name in wrong}
            tally.findings.append(f"differs from brute force in {told} {about}")
        first, by = entered.setdefault(case.group, (outcome["first_accesses"], about))
        if first != outcome["first_accesses"]:
            tally.findings.append(f"first accesses {first} and {outcome['first_accesses']}: {by}; {about}")
    return tally


def _names(run: dict[str, Any]) -> list[str]:
    """What a layout uses."""
    names = [
        run[key]["name"] if isinstance(run[key], dict) else run[key] for key in ("exchange", "placement")
    ]
    return [*names, run["schedule"] if isinstance(run["schedule"], str) else "lanes", run["wire"]]


def brute(networks: list[dict], folder: Path) -> dict[int, dict]:
    """What comes out of each network by brute force; those that are refused are left out."""
    todo = [Case(number, network, 0) for number, network in enumerate(networks)]
    found, why = run(PLAIN, 1, todo, folder)
    if why:
        raise RuntimeError(f"by brute force: {why}")
    return {case.network: one for case, one in zip(todo, found, strict=True) if "refused" not in one}


def round_of(
    seed: int, folder: Path, known: dict[str, Any], *, networks: int, each: int, ranks: range,
    program: Path = PLAIN,
) -> Tally:  # fmt: skip
    """Draws networks and runs each of them in 3 x `each` layouts on every number of ranks."""
    rng = random.Random(seed)
    models = [m["name"] for m in known["neuron_models"]]
    made = [drawn.network(rng, models) for _ in range(networks)]
    expected = brute(made, folder)
    tally = Tally()
    kept = [made[number] for number in expected]
    expected = dict(enumerate(expected.values()))
    for n in ranks:
        todo = list(cases(rng, known, kept, n, each))
        while todo:
            found, why = run(program, n, todo, folder)
            tally.add(compare(todo, found, expected, n))
            if why and len(found) < len(todo):
                tally.findings.append(f"{why}, on {n} ranks: {json.dumps(todo[len(found)].content)}")
            elif why:
                tally.findings.append(f"{why}, at the end of {len(todo)} layouts on {n} ranks")
            todo = todo[len(found) + 1 :]
    return tally

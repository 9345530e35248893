"""The layout fuzzer: whichever way a random network is run, the same comes out as by brute force.

A layout is what a description, mpirun and OpenMP say about the way: ranks, threads, lanes,
placement, exchanges, wire formats, lags and D (drawn.py). The names come from `miniapp --list
--json`, so that a new exchange or placement joins on arrival.

A refusal is a result, too: it must be one line. Counts other than first accesses are those of brute
force. First accesses depend on ranks, threads, placement and lanes, and on nothing else.
"""

import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import drawn
import program

ROOT = program.ROOT
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
    return json.loads(
        subprocess.run([miniapp, "--list", "--json"], check=True, capture_output=True).stdout
    )


class Case(NamedTuple):
    """A network in a layout; `group` names what first accesses depend on."""

    network: int
    run: dict[str, Any]
    threads: int
    group: str = ""
    files: dict[str, Any] = {}  # noqa: RUF012

    @property
    def content(self) -> dict[str, Any]:
        return {"run": self.run, "threads": self.threads, "files": self.files}

    @property
    def names(self) -> list[str]:
        """What the layout uses."""
        ways = [self.run[key] for key in ("exchange", "placement", "schedule", "wire")]
        return [
            "lanes" if isinstance(w, list) else w["name"] if isinstance(w, dict) else w
            for w in ways
        ]


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
    """Layouts of every network on so many ranks: each placement and schedule with three ways to
    exchange.
    """
    for number, network in enumerate(networks):
        populations = network["network"]["populations"]
        for _ in range(each):
            draw = drawn.Draw(
                rng, ranks, sum(p["size"] for p in populations), drawn.ordinary(known)
            )
            fixed = {
                "placement": draw.placement(known),
                "schedule": draw.schedule(known, sorted({p["area"] for p in populations})),
                "lag": rng.choice((1, 1, 2)),
            }
            threads = rng.randint(1, MOST_THREADS)
            group = json.dumps(
                [number, ranks, threads, fixed["placement"], draw.files, fixed["schedule"]]
            )
            for _ in range(3):
                way = {
                    "delay_ratio": rng.choice(("auto", "auto", 1, 2)),
                    "exchange": draw.exchange(known),
                    "wire": rng.choice([w["name"] for w in known["wires"]]),
                    "record": {"barrier": rng.random() < 0.7},
                }
                if rng.random() < 0.1:
                    way["inject"] = {
                        "mean_us": 20,
                        "sd_us": 20,
                        "wait": rng.choice(("spin", "sleep")),
                    }
                yield Case(number, {**network, **fixed, **way}, threads, group, dict(draw.files))


def run(program: Path, ranks: int, todo: list[Case], folder: Path) -> tuple[list[dict], str]:
    """A line for each of the first cases, and why there are no more: empty if there are all."""
    file = folder / "cases.json"
    file.write_text(json.dumps([case.content for case in todo]))
    command = ["mpirun", "-n", str(ranks), str(program), str(file)]
    streams = {
        "stdin": subprocess.DEVNULL,
        "capture_output": True,
        "text": True,
        "errors": "replace",
    }
    try:
        done = subprocess.run(
            command, env={**os.environ, **ENVIRONMENT}, cwd=folder, timeout=ALONE_S, **streams
        )
        output, why = done.stdout, ""
    except subprocess.TimeoutExpired as late:
        output, why = (late.stdout or b"").decode(errors="replace"), f"no end within {ALONE_S} s"
    lines = output.splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
    if not why and (done.returncode or len(found) < len(todo)):  # without what mpirun adds
        told = [
            line
            for line in done.stderr.splitlines()
            if line.strip() and not line.startswith("-----")
        ]
        first = next((i for i, line in enumerate(told) if "rror" in line or "WARNING" in line), 0)
        why = f"exit status {done.returncode}: {' | '.join(told[first : first + 12])}"
    return found, why


def compare(todo: list[Case], found: list[dict], expected: dict[int, dict], ranks: int) -> Tally:
    """What differs from brute force, {number of the network: counts}, or within a group."""
    tally, entered = Tally(), {}
    for case, outcome in zip(todo, found, strict=False):
        about = f"on {ranks} ranks: {json.dumps(case.content)}"
        if "refused" in outcome:
            line = outcome["refused"]
            if not line or "\n" in line or "expected" not in line:
                tally.findings.append(f"refused by {line!r} {about}")
            tally.refused[line.split(":")[0]] += 1
            continue
        tally.ran += 1
        tally.seen.update(case.names)
        counts = {name: (outcome[name], expected[case.network][name]) for name in SAME}
        if told := {name: pair for name, pair in counts.items() if pair[0] != pair[1]}:
            tally.findings.append(f"differs from brute force in {told} {about}")
        first, by = entered.setdefault(case.group, (outcome["first_accesses"], about))
        if first != outcome["first_accesses"]:
            tally.findings.append(
                f"first accesses {first} and {outcome['first_accesses']}: {by}; {about}"
            )
    return tally


def round_of(
    seed: int,
    folder: Path,
    known: dict[str, Any],
    *,
    networks: int,
    each: int,
    ranks: range,
    program: Path = PLAIN,
) -> Tally:
    """Draws networks and runs each of them in 3 x `each` layouts on every number of ranks."""
    rng, tally = random.Random(seed), Tally()
    models = [m["name"] for m in known["neuron_models"]]
    made = [drawn.network(rng, models) for _ in range(networks)]
    counted, why = run(PLAIN, 1, [Case(n, network, 0) for n, network in enumerate(made)], folder)
    if why:
        raise RuntimeError(f"by brute force: {why}")
    good = [n for n, one in enumerate(counted) if "refused" not in one]
    expected, kept = dict(enumerate(counted[n] for n in good)), [made[n] for n in good]
    for n in ranks:
        todo = list(cases(rng, known, kept, n, each))
        while todo:
            found, why = run(program, n, todo, folder)
            tally.add(compare(todo, found, expected, n))
            if why and len(found) < len(todo):
                tally.findings.append(
                    f"{why}, on {n} ranks: {json.dumps(todo[len(found)].content)}"
                )
            elif why:
                tally.findings.append(f"{why}, at the end of {len(todo)} layouts on {n} ranks")
            todo = todo[len(found) + 1 :]
    return tally

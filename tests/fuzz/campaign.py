"""`make fuzz`: runs all fuzzers for the minutes given, and says how much each of them tried and
found.

The targets of the mini-app run with libFuzzer (build-fuzz/), the readers and the layouts from here.
What was worth keeping stays in build-fuzz/corpus, and every finding is a file in
build-fuzz/findings. The exit status is 1 if there is a finding, 2 for bad input.
"""

import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [
    str(ROOT / part) for part in ("tests", "analysis", "analysis/tests/support", "miniapp/tests")
]

import layouts  # noqa: E402
import planted_times  # noqa: E402
from readers import READERS  # noqa: E402
from reading import Files  # noqa: E402

BUILD, TARGETS = ROOT / "build-fuzz", ROOT / "miniapp" / "tests" / "fuzz"
KEPT = "ASAN_OPTIONS", "detect_leaks=1:max_allocation_size_mb=2048"
MOST_FINDINGS = 5  # of one fuzzer, before it ends
WITHOUT_BUILD = {"readers", "imports"}
ROUND = {"networks": 4, "each": 3, "ranks": range(1, layouts.MOST_RANKS + 1)}


@dataclass
class Done:
    """What a fuzzer tried and found."""

    executions: int = 0
    findings: list[str] = field(default_factory=list)
    note: str = ""


def target(name: str, longest: int) -> Callable[[float, Path, int], Done]:
    """A target of the mini-app; inputs have up to `longest` bytes."""

    def run(seconds: float, out: Path, seed: int) -> Done:
        corpus = BUILD / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        words = TARGETS / f"{name}.dict"
        command = [
            BUILD / "obj" / "tests" / "fuzz" / f"fuzz_{name}",
            corpus,
            TARGETS / "corpus" / name,
            f"-max_total_time={max(1, int(seconds))}",
            f"-max_len={longest}",
            "-timeout=25",
            f"-seed={seed}",
            "-print_final_stats=1",
            "-entropic_scale_per_exec_time=1",
            f"-artifact_prefix={out}/{name}-",
            *([f"-dict={words}"] if words.is_file() else []),
        ]
        environment = {**os.environ, KEPT[0]: KEPT[1]}
        told = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace"
        )
        counted = re.search(r"number_of_executed_units: (\d+)", told.stderr)
        done = Done(int(counted[1]) if counted else 0)
        if told.returncode != 0:
            why = re.findall(r"^(broken: .*|SUMMARY: .*|.*runtime error: .*)$", told.stderr, re.M)
            done.findings = [f"{' | '.join(why) or told.stderr[-300:]}; the input is in {out}"]
        return done

    return run


def of_readers(seconds: float, out: Path, seed: int) -> Done:
    """Reads changed files, each reader in turn."""
    done, rng = Done(), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        files = [Files(name, reader, Path(folder)) for name, reader in READERS.items()]
        end, seen = time.monotonic() + seconds, set()
        while time.monotonic() < end:
            one, until = rng.choice(files), time.monotonic() + min(1.0, seconds / len(files))
            while time.monotonic() < until:
                done.executions += 1
                found = one.attempt(rng)
                if found and (kind := (one.name, found[0].split(": ")[0])) not in seen:
                    seen.add(kind)
                    done.findings.append(found[1])
    return done


def of_imports(seconds: float, out: Path, seed: int) -> Done:
    """Reads cycle times that are known, in random layouts of files."""
    done, outcomes = Done(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        end = time.monotonic() + seconds
        while time.monotonic() < end and len(done.findings) < MOST_FINDINGS:
            outcome = planted_times.check(seed + done.executions, Path(folder) / "case")
            done.executions += 1
            outcomes[outcome.kind] += 1
            if outcome.finding:
                done.findings.append(outcome.finding)
    done.note = ", ".join(f"{count} {kind}" for kind, count in sorted(outcomes.items()))
    return done


def of_layouts(program: Path) -> Callable[[float, Path, int], Done]:
    """Runs random networks in random layouts with a build of the mini-app."""

    def run(seconds: float, out: Path, seed: int) -> Done:
        known, tally, end = layouts.registries(), layouts.Tally(), time.monotonic() + seconds
        with tempfile.TemporaryDirectory() as folder:
            while time.monotonic() < end and not tally.findings:
                tally.add(layouts.round_of(seed, Path(folder), known, program=program, **ROUND))
                seed += 1
        note = f"{sum(tally.refused.values())} refused; " + ", ".join(
            f"{name} {count}" for name, count in sorted(tally.seen.items())
        )
        return Done(tally.ran, tally.findings, note)

    return run


#: What is run, and its share of the time.
FUZZERS: dict[str, tuple[Callable[[float, Path, int], Done], float]] = {
    "description": (target("description", 4096), 0.35),
    "words": (target("words", 900), 0.05),
    "frames": (target("frames", 600), 0.05),
    "readers": (of_readers, 0.2),
    "imports": (of_imports, 0.05),
    "layouts": (of_layouts(layouts.PLAIN), 0.1),
    "layouts, checked": (of_layouts(layouts.CHECKED), 0.1),
    "layouts, threads": (of_layouts(layouts.THREADS), 0.1),
}


def lacking() -> str | None:
    """What has to be built first."""
    targets = BUILD / "obj" / "tests" / "fuzz"
    needed = [targets / f"fuzz_{name}" for name in ("description", "words", "frames")]
    needed += [layouts.PLAIN, layouts.CHECKED, layouts.THREADS]
    return next((str(path) for path in needed if not path.is_file()), None)


def main(arguments: list[str]) -> int:
    """Runs the fuzzers. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=FUZZERS, action="append", help="may be repeated")
    asked = parser.parse_args(arguments)
    chosen = asked.only or list(FUZZERS)
    if not asked.minutes > 0:
        parser.error(f"MINUTES={asked.minutes:g}; expected a number above 0")
    if not WITHOUT_BUILD.issuperset(chosen) and (missing := lacking()) is not None:
        parser.error(f"{missing} is not built; `make fuzz` builds it")
    out = BUILD / "findings"
    out.mkdir(parents=True, exist_ok=True)
    print(f"seed {asked.seed}", flush=True)
    whole, found = sum(FUZZERS[name][1] for name in chosen), 0
    for name in chosen:
        fuzz, share = FUZZERS[name]
        began = time.monotonic()
        done = fuzz(60 * asked.minutes * share / whole, out, asked.seed)
        took = time.monotonic() - began
        said = f"{done.executions:>10} tried in {took:.0f} s, {len(done.findings)} findings"
        print(f"{name:<17} {said}", flush=True)
        if done.note:
            print(f"    {done.note}")
        for number, finding in enumerate(done.findings):
            path = out / f"{name.replace(', ', '-')}-{asked.seed}-{number}.txt"
            path.write_text(finding + "\n")
            print(f"    {path.relative_to(ROOT)}: {finding.splitlines()[0][:300]}")
        found += len(done.findings)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

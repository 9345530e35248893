"""The buyer's own run: a bench network with a secret seed, whose checksum he computed beforehand.

Nobody but the buyer knows the network, so that its spikes can neither be known nor copied. `prepare` runs it
on any machine and keeps what must come out; `accept` runs it on the delivered machine and compares.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.launch import nodes_at_hand
from spikemark.core.layout import Layout
from spikemark.core.reading import read_json
from spikemark.records.record import Run
from spikemark.running.ways import Way

from .answer import COMMITMENT
from .bundle import Bundle
from .fields import Rule
from .measure import Chosen, Taken, take

KIND, VERSION = "tender_expected", 1
FIGURE = "real_time_factor"
FILE, PREPARED = "acceptance.json", "prepared"  # the second: folder of what `prepare` runs
TOLERANCE = 0.05  # share by which the machine may be slower than what was promised
COUNTS = ("neurons", "synapses", "spikes", "synaptic_events")
SHORTEST_S = 1e-9  # a rule for every repetition; the model time is given


@dataclass(frozen=True)
class Asked:
    """What the buyer runs: the run `name` (None: the smallest that must be measured) with `seed`.

    `layout`: None for a rank on every core, up to one for each area. `model_ms`: None for the
    shortest that the tender allows.
    """

    seed: int
    name: str | None = None
    model_ms: float | None = None
    layout: Layout | None = None


def prepare(
    bundle: Bundle, asked: Asked, expect: Path, work: Path, way: Way, say: Callable[[str], None]
) -> dict[str, Any]:
    """Runs the network once and writes what must come out to `expect`; returns it.

    This run is no repetition of the acceptance: it may have been on another machine of the same name.
    Raises BadInput for the seed of the tender, an unknown run or model time, and a file that exists.
    """
    if expect.exists():
        raise BadInput(f"--expect: {expect} exists already; allowed with --prepare: the name of a new file")
    rule = _rule(bundle, asked)
    model_ms = rule.model_ms[-1] if asked.model_ms is None else asked.model_ms
    if model_ms not in rule.model_ms:
        allowed = ", ".join(f"{ms:g}" for ms in rule.model_ms)
        raise BadInput(f"--model-ms: {model_ms:g}; allowed for {rule.name}: {allowed}")
    record = _run(bundle, rule, asked, model_ms, 1, work / PREPARED, way, say).runs[0].run.record
    found = {
        "kind": KIND,
        "format_version": VERSION,
        "bundle_sha256": bundle.sha256,
        "run": rule.name,
        "seed": asked.seed,
        "model_ms": model_ms,
        "checksum": record.checksum,
        "spike_checksum": record.spike_checksum,
        "totals": {name: getattr(record.totals, name) for name in COUNTS},
    }
    write_json(expect, found)
    return found


def accept(
    bundle: Bundle,
    asked: Asked,
    expect: Path,
    out: Path,
    way: Way,
    say: Callable[[str], None],
    answer: Path | None = None,
    tolerance: float = TOLERANCE,
) -> dict[str, Any]:
    """Runs the network as often as the tender asks for and compares; writes and returns acceptance.json.

    The figure of merit is compared with what the commitment of `answer` promises for this run; None where
    there is no answer. Raises BadInput for a file `expect` that was not prepared for this bundle and seed.
    """
    wanted = _expected(bundle, asked, expect)
    rule = _rule(bundle, replace(asked, name=wanted["run"]))
    promised = None if answer is None else _promised(answer, bundle, rule)
    taken = _run(bundle, rule, asked, wanted["model_ms"], rule.repetitions, out, way, say)
    runs = [measured.run for measured in taken.runs]
    reasons = [line for run in runs for line in _differing(run, wanted)]
    factors = [run.record.timing.real_time_factor for run in runs]
    found = median(factors)
    if promised is not None and found > (1 + tolerance) * promised:
        reasons.append(
            f"{FIGURE}={found:.4g}: promised is {promised:.4g}, and up to {tolerance:.1%} more is allowed"
        )
    result = {
        "kind": "tender_acceptance",
        "format_version": 1,
        "bundle_sha256": bundle.sha256,
        "run": rule.name,
        "accepted": not reasons,
        "reasons": reasons,
        "checksum": runs[0].record.checksum,
        "figure": {
            "name": FIGURE,
            "value": found,
            "low": min(factors),
            "high": max(factors),
            "kind": "measured",
        },
        "promised": promised,
        "tolerance": tolerance,
        "repetitions": len(runs),
    }
    write_json(out / FILE, result)
    return result


def _rule(bundle: Bundle, asked: Asked) -> Rule:
    if asked.name is None:
        return bundle.rules(None)[0]
    return bundle.rules([asked.name])[0]


def _run(
    bundle: Bundle, rule: Rule, asked: Asked, model_ms: float, repetitions: int, work: Path, way: Way, say
) -> Taken:
    """The run with the secret seed, described in `work`."""
    described = read_json(bundle.description(rule))
    if asked.seed == described["seed"]:
        raise BadInput(f"--seed: {asked.seed} is that of the tender, which bidders know; allowed: any other")
    secret = replace(bundle, path=work / "secret")
    write_json(secret.path / rule.description, described | {"seed": asked.seed})
    once = rule.model_copy(
        update={"model_ms": [model_ms], "repetitions": repetitions, "minimum_seconds": SHORTEST_S}
    )
    areas = {p.get("area", p["name"]) for p in described["network"]["populations"]}
    layout = asked.layout or Layout(min(len(areas), max(nodes_at_hand().cores)), 1)
    return take(secret, once, Chosen(layout), work, way, say)


def _expected(bundle: Bundle, asked: Asked, expect: Path) -> dict[str, Any]:
    found = read_json(expect, "`spikemark tender accept --prepare` writes it")
    types = {"run": str, "seed": int, "model_ms": int | float, "checksum": str, "totals": dict}
    if not isinstance(found, dict) or found.get("kind") != KIND or found.get("format_version") != VERSION:
        raise BadInput(f"{expect}: kind: one JSON object of the kind {KIND}, format_version {VERSION}")
    for name, kind in types.items():
        if not isinstance(found.get(name), kind) or isinstance(found[name], bool):
            raise BadInput(f"{expect}: {name}={found.get(name)!r}; allowed: as --prepare wrote it")
    if found.get("bundle_sha256") != bundle.sha256:
        raise BadInput(f"{expect}: bundle_sha256: made for another bundle; allowed: {bundle.sha256}")
    if found["seed"] != asked.seed:
        raise BadInput(f"--seed: {asked.seed}; allowed: the seed that {expect} was prepared with")
    if asked.name not in (None, found["run"]):
        raise BadInput(f"--run: {asked.name}; allowed: {found['run']}, which {expect} was prepared for")
    return found


def _promised(answer: Path, bundle: Bundle, rule: Rule) -> float:
    """What the commitment of an answer promises for a run, or else what it measured."""
    content = read_json(answer / COMMITMENT, "`spikemark tender commit` writes it")
    for part in ("committed", "measured"):
        entries = content.get(part) if isinstance(content, dict) else None
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and (entry.get("run"), entry.get("figure")) == (rule.name, FIGURE):
                value = entry.get("value")
                if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                    return float(value)
    raise BadInput(f"{answer / COMMITMENT}: no {FIGURE} of {rule.name}; allowed: a run that it commits to")


def _differing(run: Run, wanted: dict[str, Any]) -> list[str]:
    record = run.record
    lines = []
    if record.checksum != wanted["checksum"]:
        lines.append(f"checksum={record.checksum}: expected is {wanted['checksum']}")
    for name, count in wanted["totals"].items():
        if (found := getattr(record.totals, name, None)) != count:
            lines.append(f"totals.{name}={found}: expected is {count}")
    return lines

"""`spikemark tender accept`: the buyer's own run of a bench network with a seed that only they know.

`prepare` runs it on any machine and keeps the checksum; `accept` runs it on the delivered machine.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.launch.layout import Layout
from spikemark.records.record import Run

from . import measure
from .check import COUNTS, same, sums, times
from .formats import RTF, Answer, Bundle, Prepared, Rule, Secret
from .measure import Chosen, Given

RESULT, PREPARED = "acceptance.json", "prepared"


def read(path: Path, bundle: Bundle) -> Secret:
    """The secret of a bundle. Raises BadInput for any other file."""
    found = checked(Secret, read_json(path, "`spikemark tender new` writes it"), path, "secret")
    if found.bundle_sha256 != bundle.sha256:
        raise BadInput.of("bundle_sha256", found.bundle_sha256, bundle.sha256, file=path)
    return found


def chosen(bundle: Bundle, rule: Rule, answer: Answer | None, given: Given) -> Chosen:
    """How the run is made: as given, else as the bidder measured it, else a rank for each area on all cores.

    Raises BadInput for fields that the bidder's category does not let them set.
    """
    if (run := answer and answer.run(rule.name)) is None:
        return measure.choose(bundle, "", rule, given, None)
    of = run.layout
    before = Chosen(Layout(of.ranks, of.threads, -(-of.ranks // of.nodes)), dict(run.set))
    return measure.choose(bundle, answer.category, rule, given, before)


def prepare(
    bundle: Bundle, path: Path, name: str | None, given: Given, out: Path, say: Callable[[str], None]
) -> Prepared:
    """Runs the network once and adds its checksum to the file of the secret.

    Raises BadInput where that was done before, and for an unknown run.
    """
    secret = read(path, bundle)
    if secret.prepared is not None:
        raise BadInput(f"{path}: prepared: is there; expected a secret that was not prepared")
    rule = bundle.rules([name] if name else None)[0]
    say(f"{rule.name} with the secret seed")
    ms = rule.model_ms[-1]
    [run] = _runs(bundle, rule, secret.seed, chosen(bundle, rule, None, given), ms, 1, out / PREPARED)
    totals = {name: getattr(run.record.totals, name) for name in COUNTS}
    made = Prepared(run=rule.name, model_ms=ms, checksum=run.record.checksum, totals=totals)
    write_json(path, secret.model_copy(update={"prepared": made}).model_dump(mode="json"))
    return made


def accept(
    bundle: Bundle, path: Path, answer: Answer | None, given: Given, out: Path, tolerance: float,
    say: Callable[[str], None],
) -> dict[str, Any]:  # fmt: skip
    """Runs the network as often as the tender asks for; writes and returns acceptance.json.

    The real-time factor is held against what the answer promises for this run; null without an answer.
    Raises BadInput for a secret that was not prepared, and for an answer without that promise.
    """
    secret = read(path, bundle)
    if (wanted := secret.prepared) is None:
        raise BadInput(f"{path}: prepared: missing; expected `spikemark tender accept --prepare` first")
    [rule] = bundle.rules([wanted.run])
    how, promised = chosen(bundle, rule, answer, given), answer and answer.promised(rule.name, RTF)
    if answer is not None and answer.bundle_sha256 != bundle.sha256:
        raise BadInput.of("answer: bundle_sha256", answer.bundle_sha256, bundle.sha256)
    if answer is not None and promised is None:
        raise BadInput(f"answer: committed: no {RTF} of {rule.name}; expected a promise")
    say(f"{rule.name} on {how.layout.ranks} ranks x {how.layout.threads} threads")
    runs = _runs(bundle, rule, secret.seed, how, wanted.model_ms, rule.repetitions, out)
    reasons = []
    for number, run in enumerate(runs, 1):
        said = [*same("checksum", run.record.checksum, wanted.checksum), *sums(run), *times(run)]
        for name, value in wanted.totals.items():
            said += same(f"totals.{name}", getattr(run.record.totals, name), value)
        reasons += [f"repetition {number}: {text}" for text in said]
    factors = [run.record.timing.real_time_factor for run in runs]
    found = median(factors)
    if promised is not None and found > (1 + tolerance) * promised:
        reasons.append(f"{RTF}={found:.4g}; expected at most {(1 + tolerance) * promised:.4g}")
    result = {
        "kind": "tender_acceptance", "format_version": 3, "bundle_sha256": bundle.sha256, "run": rule.name,
        "accepted": not reasons, "reasons": reasons, "checksum": runs[0].record.checksum, **how.content(),
        "figure": {"name": RTF, "value": found, "low": min(factors), "high": max(factors)},
        "promised": promised, "tolerance": tolerance, "repetitions": len(runs),
    }  # fmt: skip
    write_json(out / RESULT, result)
    return result


def _runs(
    bundle: Bundle, rule: Rule, seed: int, how: Chosen, model_ms: float, repetitions: int, work: Path
) -> list[Run]:
    secret = replace(bundle, path=(work / "secret").resolve())
    write_json(secret.file(rule), bundle.description(rule, {"seed": seed}))
    often = rule.model_copy(update={"repetitions": repetitions})
    return measure.sweep(measure.experiment(secret, often, how, model_ms), work)

"""`spikemark tender accept`: the buyer's own run of a bench network, with a secret seed.

Bidders know the network but not the seed, so that nobody can tune for the very spikes. Before
delivery, `prepare` runs it on any machine and keeps the checksum in the file of the secret; on the
delivered machine, `accept` runs it again, compares the spikes, and holds the real-time factor
against the promise.
"""

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked, same
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.launch import LaunchLayout
from spikemark.records.record import Run

from . import measure
from .check import COUNTS, doubts, sums, times
from .formats import RTF, Bundle
from .measure import ProgressCallback, RunSetup, TenderRunOptions
from .schema import Prepared, RunRule, Secret, TenderAnswer

RESULT = "acceptance.json"
PREPARED = "prepared"  #: folder of the runs before delivery


def _read_secret(path: Path, bundle: Bundle) -> Secret:
    """The secret of a bundle. Raises BadInput for any other file."""
    content = read_json(path, "`spikemark tender new` writes it")
    secret = checked(Secret, content, path, "secret")
    if secret.bundle_sha256 != bundle.sha256:
        raise BadInput(
            field="bundle_sha256", value=secret.bundle_sha256, expected=bundle.sha256, file=path
        )
    return secret


def _setup_of(
    bundle: Bundle,
    rule: RunRule,
    answer: TenderAnswer | None,
    options: TenderRunOptions,
) -> RunSetup:
    """How the run is made: as the options say, else as the bidder measured it, else on all cores.

    Raises BadInput for fields that the bidder's category does not let them set.
    """
    run = answer.run(rule.name) if answer else None
    if answer is None or run is None:
        return measure.choose(bundle, "", rule, options, None)
    layout = run.layout
    ranks_per_node = -(-layout.ranks // layout.nodes)
    as_measured = LaunchLayout(layout.ranks, layout.threads, ranks_per_node)
    before = RunSetup(as_measured, dict(run.set))
    return measure.choose(bundle, answer.category, rule, options, before)


def prepare(
    bundle: Bundle,
    path: Path,
    name: str | None,
    options: TenderRunOptions,
    work: Path,
    say: ProgressCallback,
) -> Prepared:
    """Runs the network once and adds its checksum to the file of the secret.

    Args:
        bundle: what the buyer published.
        path: file of the secret.
        name: a run of the bundle; None for the first that must be measured.
        options: layout of the run.
        work: folder of the measurements.
        say: takes lines that say how far the work has come.

    Raises BadInput where that was done before, and for an unknown run.
    """
    secret = _read_secret(path, bundle)
    if secret.prepared is not None:
        expected = "a secret that was not prepared"
        raise BadInput(field="prepared", reason="is there", expected=expected, file=path)
    rule = bundle.rules([name] if name else None)[0]
    say(f"{rule.name} with the secret seed")
    model_ms = rule.model_ms[-1]
    setup = _setup_of(bundle, rule, None, options)
    [run] = _runs(bundle, rule, secret.seed, setup, model_ms, 1, work / PREPARED)
    totals = {name: getattr(run.record.totals, name) for name in COUNTS}
    prepared = Prepared(
        run=rule.name, model_ms=model_ms, checksum=run.record.checksum, totals=totals
    )
    write_json(path, secret.model_copy(update={"prepared": prepared}).model_dump(mode="json"))
    return prepared


def accept(
    bundle: Bundle,
    path: Path,
    answer: TenderAnswer | None,
    options: TenderRunOptions,
    work: Path,
    tolerance: float,
    say: ProgressCallback,
) -> dict[str, Any]:
    """Runs the network as often as the tender asks for; writes and returns acceptance.json.

    Args:
        bundle: what the buyer published.
        path: file of the secret, which was prepared.
        answer: what the bidder answered; its promise for the run is held. None: none is held.
        options: layout of the run, instead of the bidder's.
        work: folder of the measurements and of acceptance.json.
        tolerance: share by which the machine may be slower than promised.
        say: takes lines that say how far the work has come.

    Raises BadInput for a secret that was not prepared, and for an answer without that promise.
    """
    secret = _read_secret(path, bundle)
    prepared = secret.prepared
    if prepared is None:
        expected = "`spikemark tender accept --prepare` first"
        raise BadInput(
            field="prepared", reason="missing", expected=expected, file=path, code="missing"
        )
    [rule] = bundle.rules([prepared.run])
    setup = _setup_of(bundle, rule, answer, options)
    promised = _promised(bundle, rule, answer)
    say(f"{rule.name} on {setup.layout.ranks} ranks x {setup.layout.threads} threads")
    runs = _runs(bundle, rule, secret.seed, setup, prepared.model_ms, rule.repetitions, work)
    reasons = []
    for number, run in enumerate(runs, 1):
        reasons += [f"repetition {number}: {text}" for text in _differences(run, prepared)]
    factors = [run.record.timing.real_time_factor for run in runs]
    factor = median(factors)
    if promised is not None:
        limit = (1 + tolerance) * promised
        if factor > limit:
            reasons.append(f"{RTF}={factor:.4g}; expected at most {limit:.4g}")
    result = {
        "kind": "tender_acceptance",
        "format_version": 3,
        "bundle_sha256": bundle.sha256,
        "run": rule.name,
        "accepted": not reasons,
        "reasons": reasons,
        "remarks": doubts(runs),
        "checksum": runs[0].record.checksum,
        **setup.content(),
        "figure": {"name": RTF, "value": factor, "low": min(factors), "high": max(factors)},
        "promised": promised,
        "tolerance": tolerance,
        "repetitions": len(runs),
    }
    write_json(work / RESULT, result)
    return result


def _promised(bundle: Bundle, rule: RunRule, answer: TenderAnswer | None) -> float | None:
    """The real-time factor that an answer promises for a run; None without an answer."""
    if answer is None:
        return None
    if answer.bundle_sha256 != bundle.sha256:
        field = "bundle_sha256"
        raise BadInput(
            field=field, value=answer.bundle_sha256, expected=bundle.sha256, file="answer"
        )
    promised = answer.promised(rule.name, RTF)
    if promised is None:
        reason = f"no {RTF} of {rule.name}"
        raise BadInput(field="committed", reason=reason, expected="a promise", file="answer")
    return promised


def _differences(run: Run, prepared: Prepared) -> list[str]:
    """What differs from the run that was prepared, and where a record does not add up."""
    texts = list(same("checksum", run.record.checksum, prepared.checksum))
    texts += sums(run)
    texts += times(run)
    for name, count in prepared.totals.items():
        texts += same(f"totals.{name}", getattr(run.record.totals, name), count)
    return texts


def _runs(
    bundle: Bundle,
    rule: RunRule,
    seed: int,
    setup: RunSetup,
    model_ms: float,
    repetitions: int,
    work: Path,
) -> list[Run]:
    """So many repetitions of a run with another seed than that of the bundle."""
    secret_bundle = replace(bundle, path=(work / "secret").resolve())
    write_json(secret_bundle.file(rule), bundle.description(rule, {"seed": seed}))
    repeated = rule.model_copy(update={"repetitions": repetitions})
    return measure.sweep(measure.experiment_of(secret_bundle, repeated, setup, model_ms), work)

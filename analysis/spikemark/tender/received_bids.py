"""What the bidders of a tender hand in, as a buyer reads it: measured, projected and committed figures."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked as checked_fields
from spikemark.core.reading import read_json
from spikemark.quantities.quantity import Quantity, missing

from . import answer, checked
from .bundle import Bundle
from .fields import FIGURES, Above0, Given, Rule

#: The kind of a projected number, by its method.
KINDS = {"model": "modelled", "dry_run+profile": "modelled", "simulation": "simulated"}
LONG = 40  # characters of a name
RTF, ENERGY = FIGURES


class Price(Given):
    """What the bidder asks for the machine."""

    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    total: Above0


class Entry(Given):
    """One measured or projected figure of a run; a value of None has a reason."""

    run: str
    figure: str
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    method: str = ""
    assumes: list[str] = Field(default_factory=list)

    def quantity(self, kind: str, unit: str) -> Quantity:
        """The value with its interval, if that has both ends."""
        if self.value is None:
            return missing(self.reason or "the bidder gives no reason", unit, mark="none")
        whole = self.low is not None and self.high is not None
        low, high = (self.low, self.high) if whole else (None, None)
        return Quantity(self.value, low, high, unit, kind)


class Promise(Given):
    """A promise. `basis`: measured or projected."""

    run: str
    figure: str
    value: Above0
    basis: str = ""


class Limits(Given):
    """A value between two others."""

    value: Above0
    low: Above0 | None = None
    high: Above0 | None = None


class PowerOffered(Given):
    """Power in W: the limit of one node, and what all nodes of the projected run take."""

    node_limit_w: Above0 | None = None
    projected_w: Limits | None = None


class Commitment(Given):
    """commitment.json."""

    kind: Annotated[str, Field(pattern="^tender_commitment$")]
    bidder: str
    machine: str
    nodes: Annotated[int, Field(ge=1)]
    price: Price | None = None
    measured: list[Entry] = Field(default_factory=list)
    projected: list[Entry] = Field(default_factory=list)
    committed: list[Promise] = Field(default_factory=list)
    power: PowerOffered = PowerOffered()


@dataclass(frozen=True)
class Evidence:
    """A figure of a run of one bidder. `rests_on`: in words."""

    run: str
    figure: str
    measured: Quantity
    projected: Quantity
    committed: Quantity
    rests_on: str = ""

    @property
    def best(self) -> Quantity:
        """The measured figure, or else the projected one."""
        return self.measured or self.projected


@dataclass(frozen=True)
class Bid:
    """An answer. `commitment` is None where there is no sheet."""

    name: str
    path: Path
    category: str
    quick: bool
    bundle_sha256: str
    commitment: Commitment | None
    verdict: checked.Checked
    evidence: dict[tuple[str, str], Evidence] = field(default_factory=dict)
    events_per_s: float | None = None  # recurrent synaptic events of the target in a simulated second

    def of(self, run: str, figure: str) -> Evidence:
        """Evidence and promise for a figure of a run."""
        none = missing(f"{self.name} says nothing of {FIGURES[figure][0]} in {run}", mark="none")
        return self.evidence.get((run, figure), Evidence(run, figure, none, none, none, none.reason))


def found(paths: list[Path]) -> list[Path]:
    """The answers among folders: a folder that is none stands for the answers in it. Raises BadInput."""
    answers: list[Path] = []
    for path in paths:
        below = sorted(place.parent for place in path.glob(f"*/{answer.FILE}"))
        within = [path] if (path / answer.FILE).is_file() else below
        if not within:
            raise BadInput(f"{path}: no {answer.FILE} in it or in its folders; needed: answers to a tender")
        answers += within
    real = [path.resolve() for path in answers]
    if len(set(real)) < len(real):
        twice = next(path for path in answers if real.count(path.resolve()) > 1)
        raise BadInput(f"{twice}: given twice; allowed: each answer once")
    return answers


def read(paths: list[Path], bundle: Bundle | None) -> list[Bid]:
    """The bids in folders of answers. Raises BadInput for answers to different bundles."""
    bids = [_read(path, bundle) for path in found(paths)]
    wanted = bundle.sha256 if bundle else bids[0].bundle_sha256
    for bid in bids:
        if bid.bundle_sha256 != wanted:
            other = "the given bundle" if bundle else str(bids[0].path)
            raise BadInput(f"{bid.path}: bundle_sha256: an answer to another bundle than {other}")
    names = [bid.name for bid in bids]
    return [
        replace(bid, name=f"{bid.name} ({bid.path.resolve().name})") if names.count(bid.name) > 1 else bid
        for bid in bids
    ]


def _read(path: Path, bundle: Bundle | None) -> Bid:
    content = answer.read(path)
    sheet, place = None, path / answer.COMMITMENT
    if place.is_file():
        sheet = checked_fields(Commitment, read_json(place), place, "commitment")
    bidder, category = (content.get(name) for name in ("bidder", "category"))
    for name, value in (("bidder", bidder), ("bundle_sha256", content.get("bundle_sha256"))):
        if not isinstance(value, str) or not value.strip():
            raise BadInput(f"{path / answer.FILE}: {name}={value!r}; allowed: a text")
    name = " ".join(bidder.split())
    name = name if len(name) <= LONG else f"{name[: LONG - 1]}…"
    verdict = checked.checked(path, None if bundle is None else bundle.path)
    return Bid(
        name, path, str(category), bool(content.get("quick")), content["bundle_sha256"], sheet, verdict,
        _evidence(path, content, sheet), None if bundle is None else _events(bundle),
    )  # fmt: skip


def target(bundle: Bundle | None) -> Rule | None:
    """The run of the network that the machine is for."""
    rules = [] if bundle is None else bundle.tender.runs
    return next((rule for rule in rules if rule.size == "target"), None)


def _events(bundle: Bundle) -> float | None:
    rule = target(bundle)
    if rule is None:
        return None
    try:
        expected = bundle.read_expected(rule)
        if modelled := expected.get("modelled_per_s"):  # counts are unknown where neurons have no rates
            return float(modelled["synaptic_events"])
        return float(expected["synaptic_events"]) / (1e-3 * float(expected["model_ms"]))
    except BadInput:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def _evidence(path: Path, content: dict[str, Any], sheet: Commitment | None) -> dict[tuple, Evidence]:
    """All figures of all runs; those of answer.json where there is no sheet."""
    measured = _of_answer(path, content) if sheet is None else sheet.measured
    projected = [] if sheet is None else sheet.projected
    promised = {} if sheet is None else {(one.run, one.figure): one for one in sheet.committed}
    by = [{(one.run, one.figure): one for one in entries} for entries in (measured, projected)]
    keys = dict.fromkeys([*by[0], *by[1], *promised])
    repeated = _repeated(content)
    made = {}
    for run, figure in keys:
        if figure not in FIGURES:
            continue
        unit = FIGURES[figure][1].replace("1", "")
        of_run, of_model = (entries.get((run, figure)) for entries in by)
        promise = promised.get((run, figure))
        none = missing("not in the sheet", unit, mark="none")
        made[run, figure] = Evidence(
            run, figure, of_run.quantity("measured", unit) if of_run else none,
            of_model.quantity(KINDS.get(of_model.method, "assumed"), unit) if of_model else none,
            Quantity(promise.value, unit=unit, kind="given") if promise else none,
            _rests_on(of_run, of_model, repeated.get(run, 0)),
        )  # fmt: skip
    return made


def _repeated(content: dict[str, Any]) -> dict[str, int]:
    """How often each run of an answer was measured; check.py names those that are left out here."""
    found, runs = {}, content.get("runs")
    for run in runs if isinstance(runs, list) else []:
        name, made = (run.get("name"), run.get("repetitions")) if isinstance(run, dict) else (None, None)
        if isinstance(name, str) and isinstance(made, list):
            found[name] = len(made)
    return found


def _rests_on(measured: Entry | None, projected: Entry | None, repetitions: int) -> str:
    if measured is not None and measured.value is not None:
        return f"measured, {repetitions} repetitions; the interval is their range"
    if projected is not None and projected.value is not None:
        assumes = "; ".join(projected.assumes[:3])
        return f"projected by {projected.method}{f': {assumes}' if assumes else ''}"
    one = projected or measured
    return (one.reason if one else None) or "not in the sheet"


def _of_answer(path: Path, content: dict[str, Any]) -> list[Entry]:
    try:
        return [
            Entry(run=run["name"], figure=name, **_limits(made, run["figure"]))
            for run in content["runs"]
            for name, made in run["figure"].items()
            if name in FIGURES
        ]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise BadInput(f"{path / answer.FILE}: runs: each with a name and figures is needed") from None


def _limits(made: dict[str, Any] | None, figure: dict[str, Any]) -> dict[str, Any]:
    if made is None:
        return {"value": None, "reason": figure.get("reason")}
    return {name: made.get(name) for name in ("value", "low", "high")}

"""The commitment sheet: what a bidder measured, what he projects, and what he promises, kept apart."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from spikemark.core.errors import BadInput
from spikemark.core.files import changed_folder, write_atomically, write_json
from spikemark.quantities.words import number

from . import answer, manifest, show
from .answer import COMMITMENT
from .bundle import Bundle
from .fields import FIGURES
from .projection import METHODS, Projected

KIND, VERSION = "tender_commitment", 1
PAGE = "COMMITMENT.md"
TEMPLATE = Path(__file__).with_name("COMMITMENT.md.j2")
MOST = 1e15  # of a price, in any currency


@dataclass(frozen=True)
class Offer:
    """An offer: a machine in words, its nodes, its price, and its power where it is known.

    `promised`: (run, figure) -> value, where the bidder promises something else than the evidence says.
    """

    machine: str
    nodes: int
    price: float
    currency: str
    promised: dict[tuple[str, str], float]
    node_limit_w: float | None = None
    node_idle_w: float | None = None


def commit(path: Path, bundle: Bundle, offer: Offer, projected: Projected | None) -> dict[str, Any]:
    """Writes commitment.json and COMMITMENT.md into an answer, and its manifest anew; returns the former.

    The answer changes as a whole or not at all. A signature of the earlier manifest is removed. Raises
    BadInput for a folder that is no answer to this bundle or differs from its manifest but for an earlier
    sheet, and for an offer that cannot be meant.
    """
    given = answer.read_whole(path)
    if (
        manifest.check(path, but=(COMMITMENT, PAGE)).get("bundle_sha256") != bundle.sha256
        or given["bundle_sha256"] != bundle.sha256
    ):
        raise BadInput(f"{path}: an answer to another bundle; allowed: an answer to {bundle.path}")
    content = _content(given, bundle, offer, projected)
    page = _page(bundle, content)
    with changed_folder(path) as made:
        write_json(made / COMMITMENT, content)
        write_atomically(made / PAGE, page)
        manifest.write(made, bundle_sha256=bundle.sha256)
    return content


def _content(
    given: dict[str, Any], bundle: Bundle, offer: Offer, projected: Projected | None
) -> dict[str, Any]:
    _check(offer)
    measured = [
        {"run": run["name"], "figure": name, **_limits(found, run["figure"].get("reason"))}
        for run in given["runs"]
        for name, found in run["figure"].items()
        if name in FIGURES
    ]
    entries = [] if projected is None else projected.entries
    wanted = {rule.name for rule in bundle.tender.runs}
    evidence = {
        (one["run"], one["figure"]): (one, basis)
        for basis, found in (("projected", entries), ("measured", measured))
        for one in found
        if one["value"] is not None
    }
    for run, figure in offer.promised:
        if run not in wanted or figure not in FIGURES:
            allowed = f"a run of {', '.join(sorted(wanted))} and a figure of {', '.join(FIGURES)}"
            raise BadInput(f"--promise {run}.{figure}: allowed: {allowed}")
        if (run, figure) not in evidence:
            raise BadInput(
                f"--promise {run}.{figure}: neither measured nor projected; allowed: what one of them is"
            )
    return {
        "kind": KIND,
        "format_version": VERSION,
        "tender": bundle.tender.name,
        "quick": bundle.tender.quick,
        "bidder": given["bidder"],
        "machine": offer.machine,
        "nodes": offer.nodes,
        "price": {"currency": offer.currency, "total": offer.price},
        "measured": measured,
        "projected": entries,
        "committed": [_promise(offer, one, basis) for one, basis in evidence.values()],
        "power": _power(offer, projected),
    }


def _limits(found: dict[str, Any] | None, reason: str | None) -> dict[str, Any]:
    if found is None:
        return {"value": None, "low": None, "high": None, "reason": reason}
    return {name: found[name] for name in ("value", "low", "high")}


def _promise(offer: Offer, one: dict[str, Any], basis: str) -> dict[str, Any]:
    """The promised value, and by which share it is better than the evidence; 0 if it is not."""
    key = one["run"], one["figure"]
    value = offer.promised.get(key, one["value"])
    better = max(0.0, 1 - value / one["value"])
    return {"run": key[0], "figure": key[1], "value": value, "basis": basis, "better_than_evidence": better}


def _power(offer: Offer, projected: Projected | None) -> dict[str, Any]:
    """Power in W of a node, and of all nodes of the projected run; null with a reason where unknown."""
    found: dict[str, Any] = {}
    for name, given in (("node_limit_w", offer.node_limit_w), ("node_idle_w", offer.node_idle_w)):
        found[name] = given
        if given is None:
            found[f"{name}_reason"] = "the bidder gives none"
    power = projected and projected.power_w
    found["projected_w"] = None if not power else {"value": power.value, "low": power.low, "high": power.high}
    if not power:
        found["projected_w_reason"] = "no profile with the power of a node"
    return found


def _check(offer: Offer) -> None:
    for name, value in (("price", offer.price), ("node-power", offer.node_limit_w)):
        if value is not None and not 0 < value <= MOST:
            raise BadInput(f"--{name}: {value:g}; allowed: above 0, up to {MOST:g}")
    if offer.node_idle_w is not None and not 0 <= offer.node_idle_w <= (offer.node_limit_w or MOST):
        raise BadInput(f"--node-idle: {offer.node_idle_w:g}; allowed: 0 to {offer.node_limit_w or MOST:g}")
    if not re.fullmatch("[A-Z]{3}", offer.currency):
        raise BadInput(f"--currency: {offer.currency!r}; allowed: three capital letters, such as EUR")
    if not offer.machine.strip() or not offer.machine.isprintable():
        raise BadInput(f"--system: {offer.machine!r}; allowed: a name in one line")


def promises(texts: list[str]) -> dict[tuple[str, str], float]:
    """Promises such as target.real_time_factor=0.9. Raises BadInput for anything else."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        run, dot, figure = key.rpartition(".")
        try:
            number_of = float(value)
        except ValueError:
            number_of = math.nan
        if not (equals and dot and 0 < number_of < math.inf):
            raise BadInput(f"--promise {text}: allowed: RUN.FIGURE=VALUE with a number above 0")
        found[run, figure] = number_of
    return found


def _page(bundle: Bundle, content: dict[str, Any]) -> str:
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        content=content,
        tender=bundle.tender,
        figures=FIGURES,
        methods=METHODS,
        value=show.value,
        number=number,
    )

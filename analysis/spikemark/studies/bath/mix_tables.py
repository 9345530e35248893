"""Tables of mixes: beside Tables II to IV of Simula et al. 2019, all mixes, and which ones are best."""

from collections.abc import Callable
from typing import Any

from spikemark.models.published import simula
from spikemark.models.published.simula import ARM, ETHERNET, X86, Point
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table

from . import kept
from .mixes import BALANCED, CRITERIA, DPSNN, EQUAL, SECONDS, Mix, mixes

NET, GROSS, TIME = "net energy", "gross energy", "time"
EVENTS = simula.definitions()[1]  # as Table IV counts them
PER_EVENT = 1e6 / EVENTS.events
#: Where power was read, in rows of the two tables, by whether a row has a baseline.
WALL = "at the wall, the whole {}; idling subtracted ({} W)"
BEHIND = "one board behind its supply; idling subtracted"
FITTED_TIME = {X86: (1, 4, 32), ARM: (1, 4, 8)}  # cores
UNPUBLISHED = missing("no run on both kinds of nodes has a published time or energy", mark="–")
ALONE = missing("all ranks are on equal nodes", mark="–")
NOTE = (
    f"{SECONDS:g} s of 20 480 neurons. Events: {EVENTS.name}, as in Table IV. Net energy is that above"
    " idling, as published; gross energy has all nodes with ranks on them, idle power included. Power above"
    " idling is the published one of as many cores of that kind, and in mixes 6.8 W more for the Ethernet"
    " card of each server; so errors are those of the times. Times are DPSNN's, fitted to the rows that say"
    " so; `held out` was not fitted. In mixes, ranks have neurons in proportion to how fast they compute."
)
NOTHING = "nothing"
SHARED = "In parentheses: what the profiles do not know, moved for all mixes alike."


def published(found: dict[str, Any]) -> Table:
    """Joules per synaptic event of x86 alone, ARM alone and mixes, beside the published ones."""
    numbers = found.get(DPSNN, {}).get("numbers", {})
    rows = []
    for name, table in ("x86", X86), ("ARM", ARM):
        points = [p for p in simula.points(table) if "HT" not in p.label and p.note != ETHERNET]
        rows += [_beside(name, table, p, numbers) for p in points]
    bath = [mix for mix in mixes() if mix.shares == BALANCED]
    rows += [
        {"nodes": mix.words, "status": "not published", "published_uj": UNPUBLISHED, **_own(mix, numbers)}
        for mix in bath
    ]
    columns = [
        Column("nodes", "cores"),
        Column("published_s", "time (s)", "literature"),
        Column("time_s", "time (s)", "modelled"),
        Column("published_j", "net energy (J)", "literature", 4),
        Column("net_j", "net energy (J)", "modelled", 2),
        Column("published_uj", "net, µJ per event", "literature", 2),
        Column("net_uj", "net, µJ per event", "modelled", 2),
        Column("off", "net, modelled / published - 1 (%)", "modelled", 2),
        Column("gross_uj", "gross, µJ per event", "modelled", 2),
        Column("measured_where", "published energy is"),
        Column("status", "time is"),
    ]
    return Table(columns, rows if numbers else [], "Joules per synaptic event", "published", [NOTE])


def _own(mix: Mix, numbers: dict[str, Any]) -> dict[str, Quantity]:
    if f"{TIME} {mix.key}" not in numbers:
        return {}
    return {
        "time_s": kept.quantity(numbers, f"{TIME} {mix.key}"),
        "net_j": kept.quantity(numbers, f"{NET} {mix.key}"),
        "net_uj": kept.quantity(numbers, f"{NET} {mix.key}", PER_EVENT),
        "gross_uj": kept.quantity(numbers, f"{GROSS} {mix.key}", PER_EVENT),
    }


def _beside(name: str, table: str, p: Point, numbers: dict[str, Any]) -> dict[str, Any]:
    mix = Mix(p.cores, 0) if table == X86 else Mix(0, p.cores)
    own = _own(mix, numbers)
    status = "fitted" if p.cores in FITTED_TIME[table] else "held out"
    where = "cluster" if table == X86 else "two boards"
    said = BEHIND if p.baseline_w is None else WALL.format(where, f"{p.baseline_w:g}")
    return {
        "nodes": f"{p.label} {name}", "published_s": p.time_s, "published_j": p.energy_j,
        "published_uj": PER_EVENT * p.energy_j, **own, "measured_where": said, "status": status,
        "off": kept.error(own["net_j"], Quantity(p.energy_j)) if own else None,
    }  # fmt: skip


def all_mixes(found: dict[str, Any], program: str) -> Table:
    """One row for each number of ranks of both kinds: equal beside balanced shares."""
    numbers = found.get(program, {}).get("numbers", {})
    by_words: dict[str, dict[str, Mix]] = {}
    for mix in mixes():
        by_words.setdefault(mix.words, {})[mix.shares] = mix

    def of(what: str, shares: str) -> Callable[[str], Quantity]:
        def cell(words: str) -> Quantity:
            mix = by_words[words].get(shares)
            return kept.quantity(numbers, f"{what} {mix.key}") if mix else ALONE

        return cell

    columns = {Column("nodes", "cores"): lambda words: words}
    for shares in EQUAL, BALANCED:
        columns |= {
            Column(f"{shares}_time", f"time (s), {shares} shares", "modelled"): of(TIME, shares),
            Column(f"{shares}_net", "net energy (J)", "modelled", 2): of(NET, shares),
            Column(f"{shares}_gross", "gross energy (J)", "modelled", 2): of(GROSS, shares),
        }
    columns[Column("gain", "time, equal / balanced", "modelled")] = lambda words: (
        kept.quantity(numbers, f"gain {words}") if BALANCED in by_words[words] else ALONE
    )
    title, name = f"{program} on x86 and ARM, {SECONDS:g} s simulated", program.lower().replace("-", "_")
    return Table.of(columns, by_words if numbers else (), title, f"mixes_{name}", [SHARED])


def verdicts(found: dict[str, Any]) -> Table:
    """The best mixes for time, energy and their product, and those that cannot be told apart from them."""
    rows = [(program, what, _verdict(result, what)) for program, result in found.items() for what in CRITERIA]
    columns = {
        Column("program", "program"): lambda row: row[0],
        Column("criterion", "least"): lambda row: row[1],
        Column("best", "best"): lambda row: row[2]["best"],
        Column("value", "value (s, J or J s)", "modelled"): lambda row: row[2]["value"],
        Column("tied", "cannot be told apart from it"): lambda row: row[2]["tied"],
        Column("bath", "best mix of both"): lambda row: row[2]["bath"],
        Column("over", "that mix over the best", "modelled"): lambda row: row[2]["over"],
    }
    return Table.of(columns, rows, "Which nodes are best", "verdicts", [SHARED])


def _verdict(result: dict[str, Any], what: str) -> dict[str, Any]:
    numbers, best = result["numbers"], result["best"][what]
    known = {mix.key: mix for mix in mixes()}

    def over(key: str) -> Quantity:
        return kept.quantity(numbers, f"{what} {key} over best")

    tied = [_words(known[key]) for key in known if key != best and over(key).low <= 1]
    both = min((key for key, mix in known.items() if mix.shares == BALANCED), key=lambda key: over(key).value)
    return {
        "best": _words(known[best]), "value": kept.quantity(numbers, f"{what} {best}"),
        "tied": "; ".join(tied) or NOTHING, "bath": _words(known[both]), "over": over(both),
    }  # fmt: skip


def _words(mix: Mix) -> str:
    return mix.words + (f", {mix.shares}" if len(mix.on) > 1 else "")


def sentence(found: dict[str, Any]) -> str | None:
    """True if a bath of both is worth it, in one sentence with intervals."""
    if DPSNN not in found:
        return None
    said = {what: _verdict(found[DPSNN], what) for what in (TIME, NET, "net energy x time")}
    text = Column("", "").text
    parts = []
    for what, verdict in said.items():
        over = verdict["over"]
        apart = "cannot be told apart from it:" if over.low <= 1 <= over.high else "takes"
        tied = f" (tied: {verdict['tied']})" if verdict["tied"] != NOTHING else ""
        best = f"{what} is least on {verdict['best']}{tied}"
        parts.append(f"{best}, and the best bath {apart} {text(over)} times as much")
    return f"With x86 and ARM in one bath: {'; '.join(parts)}."

"""Are the spikes those of the network: checksums, counts, sums over ranks, and rates."""

from __future__ import annotations

import os

from .arrays import Numbers
from .findings import Report
from .forms import COUNTS
from .reading import Unusable
from .record import Repetition

MASK = 2**64 - 1
MOST_SPIKES = 2_000_000  # whose checksum is computed again
SIGMAS = 6
#: The lanes of each schedule: name, period in cycles (D: delay_ratio, None: by the delays), lag (None: the
#: description's), and whether the lane joins all ranks.
_NEAR, _FAR = ("near", 1, 0, False), ("far", "D", 0, True)
SCHEDULES = {
    "conventional": (("world", 1, 0, True),),
    "placement_only": (("world", 1, 0, True),),
    "structure_aware": (_NEAR, _FAR),
    "overlapped": (_NEAR, ("far", "D", None, True)),
    "hierarchical": (_NEAR, ("group", None, 0, False), _FAR),
}
LEAST_SPIKES = 10_000  # from which events are compared with spikes
EVENTS = 1.5  # by which factor events may differ from spikes times synapses of a neuron


def check_spikes(one: Repetition, known, tolerances: dict, report: Report) -> None:
    """Checks one repetition; `known` is the content of expected/RUN.json, or None."""
    where, record = f"{one.folder}/record.json", one.record
    if known is not None:
        _check_expected(one, known, tolerances, where, report)
    if one.ranks is not None:
        for name in COUNTS:
            total = sum(rank[name] for rank in one.ranks)
            if total != record["totals"][name]:
                report.say("sums", where, f"totals.{name}={record['totals'][name]}: the ranks have {total}")
        total = sum(rank["checksum"] for rank in one.ranks) & MASK
        if total != int(record["checksum"], 16):
            report.say("sums", where, f"checksum={record['checksum']}: the ranks add up to {total:016x}")
    _check_lanes(one, where, report)
    _check_rates(one, tolerances["rates"], where, report)
    if record["description"]["record"].get("spikes") is True:
        _check_recorded(one, report)


def check_one_checksum(name: str, found: list, report: Report) -> None:
    """Checks that all repetitions of a run, in whichever layout, have the same spikes and events."""
    by_time = {}
    for one in found:
        by_time.setdefault(one.record["description"]["time"]["simulate_ms"], []).append(one)
    for same in by_time.values():
        first = same[0].record
        for one in same[1:]:
            for key in ("checksum", "spike_checksum"):
                if one.record[key] != first[key]:
                    text = f"{key}={one.record[key]}: {same[0].folder} has {first[key]}"
                    report.say("one checksum", f"{one.folder}/record.json", text)
            for key in ("spikes", "synaptic_events"):
                if one.record["totals"][key] != first["totals"][key]:
                    wanted = first["totals"][key]
                    text = f"totals.{key}={one.record['totals'][key]}: {same[0].folder} has {wanted}"
                    report.say("one checksum", f"{one.folder}/record.json", text)


def _check_expected(one: Repetition, known: dict, tolerances: dict, where: str, report: Report) -> None:
    record = one.record
    length = record["description"]["time"]["simulate_ms"]
    times = known.get("times")
    of_time = known
    if times:
        of_time = next((one for one in times if one["model_ms"] == length), None)
        if of_time is None:
            return  # a model time that is not allowed, which the check of rules says
    checksum = of_time.get("checksum")
    if checksum is not None and checksum != record["checksum"]:
        report.say("checksum", where, f"checksum={record['checksum']}: expected is {checksum}")
    tolerance = max(known["tolerance"], tolerances["events"])
    for name in ("neurons", "synapses", "spikes", "synaptic_events"):
        wanted, found = of_time.get(name, known.get(name)), record["totals"][name]
        if wanted is not None and abs(found - wanted) > tolerance * wanted:
            report.say(
                "counts", where, f"totals.{name}={found}: expected are {wanted}, within {tolerance:.2%}"
            )


def _check_lanes(one: Repetition, where: str, report: Report) -> None:
    record, lanes = one.record, one.record["lanes"]
    cycles = record["timing"]["cycles"]
    _check_schedule(record, where, report)
    for lane in lanes:
        windows = -(-cycles // lane["period"])
        if lane["windows"] != windows:
            report.say(
                "lanes", where, f"lane {lane['name']}: windows={lane['windows']}: the run has {windows}"
            )
        if lane["ranks"] > record["ranks"]:
            report.say("lanes", where, f"lane {lane['name']}: ranks={lane['ranks']} of {record['ranks']}")
    for name in ("synapses", "messages", "bytes_sent"):
        total = sum(lane[name] for lane in lanes)
        if total != record["totals"][name]:
            report.say("lanes", where, f"totals.{name}={record['totals'][name]}: the lanes have {total}")


def lanes_of(description: dict):
    """(name, period, lag, whether it joins all ranks) of the lanes that a description asks for.

    A period or lag of None follows from the delays. None for what is no schedule.
    """
    schedule, ratio, lag = (description.get(name) for name in ("schedule", "delay_ratio", "lag"))
    if isinstance(schedule, list):
        told = [lane for lane in schedule if isinstance(lane, dict)]
        rules = [
            (lane.get("name"), lane.get("period", 1), lane.get("lag", 0),
             lane.get("group", "world") == "world" and not {"from", "to"} & set(lane))
            for lane in told
        ]  # fmt: skip
    else:
        rules = SCHEDULES.get(str(schedule))
    if rules is None:
        return None
    found = []
    for name, period, own_lag, whole in rules:
        late = lag if own_lag is None else own_lag
        if period == "D" and isinstance(ratio, int) and isinstance(late, int):
            period = ratio // (late + 1)
        found.append((name, period if isinstance(period, int) else None, late, whole))
    return found


def _check_schedule(record: dict, where: str, report: Report) -> None:
    """Checks that the lanes of a record are those of its schedule."""
    wanted = lanes_of(record["description"])
    if wanted is None:
        text = f"description.schedule={str(record['description'].get('schedule'))[:40]}: no schedule"
        report.say("lanes", where, f"{text}; allowed: {', '.join(SCHEDULES)} or lanes")
        return
    names, found = [name for name, *_ in wanted], [lane["name"] for lane in record["lanes"]]
    if names != found:
        report.say("lanes", where, f"lanes={', '.join(found)}: the schedule has {', '.join(map(str, names))}")
        return
    for (name, period, lag, whole), lane in zip(wanted, record["lanes"]):
        for field, value in (("period", period), ("lag", lag), ("ranks", record["ranks"] if whole else None)):
            if value is not None and lane[field] != value:
                text = f"lane {name}: {field}={lane[field]}: by the description it is {value}"
                report.say("lanes", where, text)


def _check_rates(one: Repetition, share: float, where: str, report: Report) -> None:
    network, totals = one.record["description"]["network"], one.record["totals"]
    seconds = one.record["timing"]["model_s"]
    sizes = {p["name"]: p["size"] for p in network["populations"]}
    neurons = sum(p["size"] for p in network["populations"])
    if totals["neurons"] != neurons:
        report.say("rates", where, f"totals.neurons={totals['neurons']}: the populations have {neurons}")
    degrees = [
        (p.get("indegree"), sizes.get(str(p.get("target")), 0)) for p in network.get("projections", [])
    ]
    if all(isinstance(degree, int) and not isinstance(degree, bool) for degree, _ in degrees):
        synapses = sum(degree * size for degree, size in degrees)
        if totals["synapses"] != synapses:
            report.say(
                "rates", where, f"totals.synapses={totals['synapses']}: the in-degrees give {synapses}"
            )
        _check_events(network, sizes, totals, where, report)
    expected = slack = 0.0
    for p in network["populations"]:
        rate, cv = p["neuron"].get("rate_hz"), p["neuron"].get("rate_cv", 0.0)
        if p["neuron"].get("model") != "ignore_and_fire" or not _numbers(rate, cv):
            return
        expected += p["size"] * rate * seconds
        slack += (
            p["size"] + (SIGMAS * cv * rate * seconds * p["size"] ** 0.5) + cv * p["size"] * rate * seconds
        )
    if abs(totals["spikes"] - expected) > share * expected + slack:
        report.say("rates", where, f"totals.spikes={totals['spikes']}: the rates give {expected:.6g}")


def _check_events(network: dict, sizes: dict, totals: dict, where: str, report: Report) -> None:
    """Compares events with spikes times the synapses of a neuron, of the population with least and most."""
    outgoing = {name: 0.0 for name, size in sizes.items() if size}
    for p in network.get("projections", []):
        source = p.get("source")
        names = [n for n in (source if isinstance(source, list) else [source]) if n in outgoing]
        pool = sum(sizes[name] for name in names)
        for name in names:
            outgoing[name] += p["indegree"] * sizes.get(str(p.get("target")), 0) / pool
    if not outgoing or totals["spikes"] < LEAST_SPIKES:
        return
    low, high = (totals["spikes"] * choose(outgoing.values()) for choose in (min, max))
    if not low / EVENTS <= totals["synaptic_events"] <= high * EVENTS:
        text = f"totals.synaptic_events={totals['synaptic_events']}: the spikes give {low:.4g} to {high:.4g}"
        report.say("rates", where, text)


def _numbers(*values) -> bool:
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) and 0 <= v < 1e9 for v in values)


def splitmix64(x: int) -> int:
    """The first output of that generator, seeded with x."""
    z = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def _check_recorded(one: Repetition, report: Report) -> None:
    where, count = f"{one.folder}/spikes.npy", one.record["totals"]["spikes"]
    try:
        spikes = Numbers(os.path.join(one.path, "spikes.npy"), "u", (count, 2))
        if count > MOST_SPIKES:
            report.note(f"{where}: {count} spikes; only up to {MOST_SPIKES} are summed up again")
            return
        total = 0
        for piece in spikes.pieces(0, 2 * count, 2):
            total += sum(splitmix64(gid + (step << 32)) for gid, step in zip(piece[::2], piece[1::2]))
    except Unusable as why:
        report.say("spikes", where, str(why))
        return
    if total & MASK != int(one.record["spike_checksum"], 16):
        report.say(
            "spikes", where, f"they give {total & MASK:016x}; the record has {one.record['spike_checksum']}"
        )

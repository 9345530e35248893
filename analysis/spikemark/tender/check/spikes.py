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

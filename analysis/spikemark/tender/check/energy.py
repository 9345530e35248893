"""Is the energy of a repetition power times time, within what its nodes can take?"""

from __future__ import annotations

import os

from .findings import Report
from .reading import Absent, Unusable
from .record import Repetition, real, rows_of, whole
from .times import CLOCK_SLACK_S, close

COLUMNS = ("node", "source", "channel", "time_s", "energy_j", "power_w")
#: W per node that no node is below or above, where nobody states limits.
NODE_W = (0.5, 50_000.0)
#: Of a measured part, that must lie between readings no more than BRIDGED intervals apart; an interval counts
#: as at most a tenth of the part.
COVERED, BRIDGED, FEWEST_INTERVALS = 0.5, 3, 10
USUAL_S = 0.1  # between two readings
METER, JOULES = "readings", "joules_per_synaptic_event"  # of a repetition in answer.json
READINGS = 2  # by which the number of readings may differ: those at the edges of the measured part


def check_energy(
    one: Repetition, told: dict, limits: tuple, required: bool, tolerance: float, report: Report
) -> None:
    """Checks one repetition; `told`: what answer.json says of it.

    `limits`: idle and largest power of a node in W, each may be None.
    """
    where, record = f"{one.folder}/record.json", one.record
    energy = record["energy"]
    wanted = record["description"]["record"].get("energy") is True
    outside = told.get(METER)
    if outside is not None:
        _check_outside(one, told, outside, limits, tolerance, report)
    if energy is None or energy["gross_j"] is None:
        if required and outside is None:
            why = record.get("energy_reason") if energy is None else energy.get("reason")
            report.say("no power", where, f"no energy was measured: {why or 'the record does not say why'}")
        return
    if not wanted or energy["status"] != "ok":
        report.say(
            "energy sums", where, f"energy has values with status {energy['status']}, recorded: {wanted}"
        )
    sensors = record["description"]["record"].get("energy_sensors")
    if sensors:
        run = one.folder.rsplit("/", 1)[0]
        report.note(f"{run}: energy is that of the sensors {str(sensors)[:200]}, which the bidder chose")
    _check_sums(one, where, report)
    _check_power(one, limits, tolerance, where, report)
    channels = _read(os.path.join(one.path, "energy.csv"), f"{one.folder}/energy.csv", report)
    if channels is not None:
        _check_readings(one, channels, limits, tolerance, report)


def _read(path: str, where: str, report: Report):
    """Readings by node and channel; None where there are none that can be used, which is reported."""
    try:
        return _channels(path)
    except Absent as why:
        report.say("part missing", where, str(why))
    except Unusable as why:
        report.say("readings", where, str(why))
    return None


def _check_outside(
    one: Repetition, told: dict, file: str, limits: tuple, tolerance: float, report: Report
) -> None:
    """Checks the readings of a meter outside, which `spikemark tender run --power` wrote for this run."""
    own = meter_file(told["folder"])
    if file != own:
        report.say("readings", "answer.json", f"{told['folder']}: readings={file}; its own are {own}")
        return
    root = one.path[: -len(one.folder)]
    channels, span = _read(os.path.join(root, *file.split("/")), file, report), one.span
    if channels is None or span is None:
        return
    parts = [energy_within(_reaching(readings, span), span) for readings in channels.values()]
    if not parts or None in parts:
        report.say("readings", file, "the readings do not cover the measured part")
        return
    duration = max(span[1] - span[0], 1e-9)
    for key, readings in channels.items():
        share = _covered(readings, span, duration / FEWEST_INTERVALS)
        if share < COVERED:
            report.say("readings", file, f"{key[1]}: readings cover {share:.0%} of the run")
    found, events = sum(parts), one.record["totals"]["synaptic_events"]
    stated = told.get(JOULES)
    if events and (stated is None or not close(stated * events, found, tolerance)):
        report.say("energy", file, f"{found:.6g} J; {JOULES}={stated} times {events} synaptic events is not")
    nodes = one.record["host"]["nodes"]
    _check_limits(found / duration, nodes, None, limits, tolerance, file, report)


def meter_file(folder: str) -> str:
    """The file with the readings of a meter outside during a repetition, named by its folder in runs/."""
    return f"power/{folder.split('/', 1)[1].replace('/', '-')}.csv"


def _reaching(readings: list, span: tuple) -> list:
    """The readings up to the ends of the measured part, if these are at most a usual interval away."""
    if len(readings) < 2:
        return readings
    usual = sorted(b[0] - a[0] for a, b in zip(readings, readings[1:]))[(len(readings) - 1) // 2]
    found = list(readings)
    for at, first, second, place in (
        (span[0], readings[0], readings[1], 0), (span[1], readings[-1], readings[-2], len(found) + 1),
    ):  # fmt: skip
        beyond = first[0] - at if place == 0 else at - first[0]
        if 0 < beyond <= usual:
            per_s = None if first[1] is None else (second[1] - first[1]) / (second[0] - first[0])
            joules = None if per_s is None else first[1] + per_s * (at - first[0])
            found.insert(place, (at, joules, first[2]))
    return found


def check_channels(found: list, report: Report) -> None:
    """Checks that all repetitions of a run were measured with the same channels, on every node."""
    first = None
    for one in found:
        energy = one.record["energy"]
        if not one.measured or energy is None or energy["gross_j"] is None:
            continue
        where = f"{one.folder}/record.json"
        own = sorted((channel["node"], channel["name"]) for channel in energy["channels"])
        if {node for node, _ in own} != set(range(energy["nodes"])):
            report.say("energy sums", where, f"energy.channels: not of every one of {energy['nodes']} nodes")
        first = first or (one.folder, own)
        if own != first[1]:
            report.say("energy sums", where, f"energy.channels: {first[0]} has others")


def _check_sums(one: Repetition, where: str, report: Report) -> None:
    energy, said = one.record["energy"], []
    gross, idle = energy["gross_j"], energy["idle_power_w"]
    parts = [channel["gross_j"] for channel in energy["channels"]]
    if None in parts or not close(sum(parts), gross, 1e-6, 1e-9):
        said.append(f"energy.gross_j={gross:.6g}: the channels add up to {sum(p or 0.0 for p in parts):.6g}")
    if idle is not None and energy["net_j"] is not None:
        net = gross - idle * energy["duration_s"]
        if not close(energy["net_j"], net, 1e-6, 1e-6 * gross):
            said.append(f"energy.net_j={energy['net_j']:.6g}: gross - idle x duration is {net:.6g}")
    if one.span is not None and not close(energy["duration_s"], one.span[1] - one.span[0], 1e-3, 1e-3):
        said.append(
            f"energy.duration_s={energy['duration_s']:.6g}: the run took {one.span[1] - one.span[0]:.6g}"
        )
    if energy["nodes"] != one.record["host"]["nodes"]:
        said.append(f"energy.nodes={energy['nodes']}: the run had {one.record['host']['nodes']} nodes")
    for line in said:
        report.say("energy sums", where, line)


def _check_power(one: Repetition, limits: tuple, tolerance: float, where: str, report: Report) -> None:
    energy = one.record["energy"]
    power = energy["gross_j"] / max(energy["duration_s"], 1e-9)
    _check_limits(power, energy["nodes"], energy["idle_power_w"], limits, tolerance, where, report)


def _check_limits(
    power: float, nodes: int, idle, limits: tuple, tolerance: float, where: str, report: Report
) -> None:
    low = limits[0] if limits[0] is not None else NODE_W[0]
    high = limits[1] if limits[1] is not None else NODE_W[1]
    floor = max(nodes * low, idle or 0.0)
    if power < (1 - tolerance) * floor:
        report.say("power limits", where, f"mean power is {power:.4g} W; idle power is {floor:.4g} W")
    if power > (1 + tolerance) * nodes * high:
        report.say(
            "power limits",
            where,
            f"mean power is {power:.4g} W; {nodes} nodes take up to {nodes * high:.4g} W",
        )


def _channels(path: str) -> dict:
    """Readings by node and channel: [(time in s, J since the first or None, W or None)]. Raises Unusable."""
    names, rows = rows_of(path)
    for name in COLUMNS:
        if name not in names:
            raise Unusable(f"no column {name}")
    found = {}
    for number, row in enumerate(rows, 2):
        cells, at = dict(zip(names, row)), f"line {number}"
        joules, watts = cells["energy_j"], cells["power_w"]
        if (joules == "") == (watts == ""):
            raise Unusable(f"{at}: either energy_j or power_w must be there")
        reading = (
            real(cells["time_s"], f"{at}, time_s"),
            real(joules, f"{at}, energy_j") if joules else None,
            real(watts, f"{at}, power_w") if watts else None,
        )
        own = found.setdefault((whole(cells["node"], f"{at}, node"), cells["channel"]), [])
        if own and (reading[0] <= own[-1][0] or (reading[1] is None) != (own[-1][1] is None)):
            raise Unusable(f"{at}: time goes back or repeats, or the unit changes")
        if own and reading[1] is not None and reading[1] < own[-1][1]:
            raise Unusable(f"{at}: energy falls from {own[-1][1]:g} to {reading[1]:g} J")
        own.append(reading)
    return found


def energy_within(readings: list, span: tuple):
    """J between two times, from cumulative energy or by the rule of trapezoids; None if not covered."""
    if len(readings) < 2 or readings[0][0] > span[0] or readings[-1][0] < span[1]:
        return None
    total = 0.0
    for before, after in zip(readings, readings[1:]):
        begin, end = max(span[0], before[0]), min(span[1], after[0])
        if end <= begin:
            continue
        if before[1] is not None:
            total += (after[1] - before[1]) / (after[0] - before[0]) * (end - begin)
        else:
            slope = (after[2] - before[2]) / (after[0] - before[0])
            total += (before[2] + slope * ((begin + end) / 2 - before[0])) * (end - begin)
    return total


def _check_readings(one: Repetition, channels: dict, limits: tuple, tolerance: float, report: Report) -> None:
    where, energy, span = f"{one.folder}/energy.csv", one.record["energy"], one.span
    if span is None:
        return
    listed = {(c["node"], c["name"]): c["gross_j"] for c in energy["channels"]}
    if set(listed) != set(channels):
        report.say(
            "readings", where, f"{len(channels)} channels; energy.channels has {len(listed)} or others"
        )
        return
    for key, readings in channels.items():
        found, said = energy_within(readings, span), listed[key]
        if found is None:
            report.say(
                "readings", where, f"channel {key[1]} of node {key[0]} does not cover the measured part"
            )
        elif said is None or not close(found, said, tolerance, 1e-6):
            report.say(
                "energy", where, f"channel {key[1]} of node {key[0]}: {found:.6g} J; the record has {said} J"
            )
    asked = one.record["description"]["record"].get("energy_interval_s", USUAL_S)
    asked = asked if isinstance(asked, (int, float)) else USUAL_S
    for key, readings in channels.items():
        share = _covered(readings, span, min(asked, (span[1] - span[0]) / FEWEST_INTERVALS))
        if share < COVERED:
            text = (
                f"{key[1]} of node {key[0]}: readings are so far apart that they cover {share:.0%} of the run"
            )
            report.say("readings", where, text)
    inside = min(sum(span[0] <= r[0] <= span[1] for r in readings) for readings in channels.values())
    if abs(inside - energy["readings"]) > READINGS:
        report.say(
            "readings", where, f"{inside} readings in the measured part; energy.readings={energy['readings']}"
        )
    _check_idle(one, channels, tolerance, report)


def _covered(readings: list, span: tuple, usual_s: float) -> float:
    """The share of the measured part between readings that are at most BRIDGED times `usual_s` apart."""
    duration, most = span[1] - span[0], BRIDGED * usual_s
    ends = [(max(span[0], a[0]), min(span[1], b[0]), b[0] - a[0]) for a, b in zip(readings, readings[1:])]
    return sum(end - begin for begin, end, apart in ends if end > begin and apart <= most) / max(
        duration, 1e-9
    )


def _check_idle(one: Repetition, channels: dict, tolerance: float, report: Report) -> None:
    """Compares the idle power of the record with the readings of the pause before the run."""
    idle, pause = one.record["energy"]["idle_power_w"], one.record["timing"].get("idle_before_s")
    if idle is None or pause is None or pause[1] - pause[0] < CLOCK_SLACK_S:
        return
    parts = [energy_within(readings, tuple(pause)) for readings in channels.values()]
    if None in parts:
        return
    found = sum(parts) / (pause[1] - pause[0])
    if not close(found, idle, 2 * tolerance, 1.0):
        report.say(
            "energy", f"{one.folder}/energy.csv", f"idle power is {found:.4g} W; the record has {idle:.4g} W"
        )

"""Are the figures of the answer and of the commitment those of the records?"""

from __future__ import annotations

from statistics import median

from .bundle import Bundle
from .energy import JOULES, METER
from .findings import Report
from .times import close

STATED_TWICE = 1e-6  # relative, of a figure that is stated twice
ROUGHLY = 0.01  # relative, of power
RULES = {"median": median, "best": min, "worst": max}
RTF = "real_time_factor"
METHODS = ("dry_run+profile", "simulation", "model")


def check_figures(run: dict, found: dict, bundle: Bundle, report: Report) -> dict:
    """Checks one run of answer.json; `found`: repetitions by folder. Returns the figures by name."""
    name, values = run["name"], {RTF: [], JOULES: []}
    rule = bundle.rule(name) or {"counts": "median"}
    for told in run["repetitions"]:
        values[RTF].append(told[RTF])
        values[JOULES].append(told.get(JOULES))
        one = found.get(told["folder"])
        if one is not None:
            _check_repetition(told, one.record, report)
    figures = {}
    for figure, each in values.items():
        said = run["figure"].get(figure)
        where = f"runs.{name}.figure.{figure}"
        wanted = RULES[rule["counts"]](each) if each and None not in each else None
        figures[figure] = None if said is None else said["value"]
        if wanted is None:
            if said is not None and said["value"] is not None:
                report.say("figure", "answer.json", f"{where}={said['value']}: a repetition has none")
        elif said is None or said["value"] is None:
            report.say("figure", "answer.json", f"{where} is null: the {rule['counts']} is {wanted:.6g}")
        elif not close(said["value"], wanted, STATED_TWICE):
            report.say(
                "figure", "answer.json", f"{where}={said['value']:.6g}: the {rule['counts']} is {wanted:.6g}"
            )
        elif None in (said["low"], said["high"]) or not said["low"] <= said["value"] <= said["high"]:
            report.say(
                "figure", "answer.json", f"{where}: {said['low']} to {said['high']} does not hold the value"
            )
        elif not (
            close(said["low"], min(each), STATED_TWICE) and close(said["high"], max(each), STATED_TWICE)
        ):
            text = f"{where}: low and high are not the smallest and largest of the repetitions"
            report.say("figure", "answer.json", text)
    return figures


def _check_repetition(told: dict, record: dict, report: Report) -> None:
    where, timing = f"answer.json, {told['folder']}", record["timing"]
    if told["started"] != record["provenance"]["started"]:
        report.say("repetition figure", where, f"started={told['started']}: the record has another")
    for name in (RTF, "simulate_s"):
        value = told.get(name)
        if (value is None and name == RTF) or (
            value is not None and not close(value, timing[name], STATED_TWICE)
        ):
            report.say("repetition figure", where, f"{name}={value}: the record has {timing[name]:.6g}")
    joules, energy, events = told.get(JOULES), record["energy"], record["totals"]["synaptic_events"]
    if told.get(METER) is not None:
        return  # check_energy compares it with these readings
    if energy is not None and energy["gross_j"] is not None and events:
        if joules is None or not close(joules, energy["gross_j"] / events, STATED_TWICE):
            text = f"{JOULES}={joules}: gross_j / synaptic_events is {energy['gross_j'] / events:.4g}"
            report.say("repetition figure", where, text)
    elif joules is not None:
        text = f"{JOULES}={joules}: the record has no energy, and no readings of a meter are named"
        report.say("repetition figure", where, text)


def check_commitment(commitment: dict, answer: dict, figures: dict, bundle: Bundle, report: Report) -> None:
    """Checks commitment.json; `figures`: by run and figure, as answer.json has them."""
    where = "commitment.json"
    if commitment["bidder"] != answer["bidder"]:
        report.say("committed", where, "bidder differs from that of answer.json")
    for entry in commitment["measured"]:
        run, figure, value = entry["run"], entry["figure"], entry["value"]
        if run not in figures or figure not in figures[run]:
            report.say("committed", where, f"measured: {run} {figure} is not in the answer")
        elif (value is None) != (figures[run][figure] is None) or (
            value is not None and not close(value, figures[run][figure], STATED_TWICE)
        ):
            report.say(
                "committed", where, f"measured: {run} {figure}={value}: the answer has {figures[run][figure]}"
            )
    stated = {(entry["run"], entry["figure"]) for entry in commitment["measured"]}
    for run, own in figures.items():
        if own.get(RTF) is not None and (run, RTF) not in stated:
            report.say("committed", where, f"measured: {run} {RTF} is missing")
    for part in ("measured", "projected", "committed"):
        _check_once(part, commitment.get(part, []), report)
    for entry in commitment["projected"]:
        name = f"projected: {entry['run']} {entry['figure']}"
        low, value, high = entry["low"], entry["value"], entry["high"]
        if bundle.tender is not None and bundle.rule(entry["run"]) is None:
            report.say("projection", where, f"{name}: no run of the tender")
        if entry["figure"] not in (RTF, JOULES):
            report.say("projection", where, f"{name}: allowed is {RTF} or {JOULES}")
        if entry["method"] not in METHODS:
            report.say(
                "projection", where, f"{name}: method={entry['method']}: allowed: {', '.join(METHODS)}"
            )
        if None in (value, low, high):
            if not entry.get("reason"):
                report.say("projection", where, f"{name}: value or interval is null without a reason")
            else:
                report.note(f"{name} has no interval: {entry['reason']}")
        elif not low <= value <= high or low == high:
            report.say("projection", where, f"{name}: {low} to {high} is no interval around {value}")
        if not entry["assumes"]:
            report.say("projection", where, f"{name}: assumes is empty")
    _check_promises(commitment, report)
    _check_projected_power(commitment, report)
    projected = {
        entry["run"]
        for entry in commitment["projected"]
        if entry["figure"] == RTF and entry["value"] is not None
    }
    for rule in bundle.rules:
        if rule["name"] not in projected and rule["name"] not in figures:
            report.say("not projected", where, f"{rule['name']}: {RTF} is neither measured nor projected")


def _check_once(part: str, entries: list, report: Report) -> None:
    """Checks that a sheet says a figure of a run once, so that nobody can choose which one counts."""
    known = set()
    for entry in entries:
        key = entry["run"], entry["figure"]
        if key in known:
            reason = "projection" if part == "projected" else "committed"
            report.say(reason, "commitment.json", f"{part}: {key[0]} {key[1]} stands twice")
        known.add(key)


def _check_projected_power(commitment: dict, report: Report) -> None:
    """Checks that the projected power lies between idle power and limit of the nodes."""
    power, nodes = commitment.get("power") or {}, commitment["nodes"]
    projected = power.get("projected_w")
    if projected is None:
        return
    low, high = (power.get(f"node_{end}_w") for end in ("idle", "limit"))
    if low is not None and projected["value"] < (1 - ROUGHLY) * nodes * low:
        text = f"power.projected_w={projected['value']:.4g}: {nodes} idle nodes take {nodes * low:.4g}"
        report.say("projection", "commitment.json", text)
    if high is not None and projected["value"] > (1 + ROUGHLY) * nodes * high:
        text = f"power.projected_w={projected['value']:.4g}: {nodes} nodes take up to {nodes * high:.4g}"
        report.say("projection", "commitment.json", text)


def _check_promises(commitment: dict, report: Report) -> None:
    """Checks that a promise says on what it rests, and by how much it is better than that."""
    evidence = {
        (basis, entry["run"], entry["figure"]): entry["value"]
        for basis in ("measured", "projected")
        for entry in commitment[basis]
    }
    for entry in commitment.get("committed", []):
        name = f"committed: {entry['run']} {entry['figure']}"
        known, value = evidence.get((entry["basis"], entry["run"], entry["figure"])), entry["value"]
        if not known or value is None:
            report.say("committed", "commitment.json", f"{name} was not {entry['basis']}")
            continue
        better = max(0.0, 1 - value / known)
        told = f"{name}={value:.6g} is better than what was {entry['basis']}, by {better:.2%}"
        if abs(better - entry["better_than_evidence"]) > STATED_TWICE:
            report.say("committed", "commitment.json", f"{told}, and does not say so")
        elif better > STATED_TWICE:
            report.note(told)

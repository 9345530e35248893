"""Is what was run what the tender asks for: runs, repetitions, descriptions, flags, versions and layouts."""

from __future__ import annotations

from fnmatch import fnmatchcase

from .bundle import Bundle
from .defaults import filled
from .findings import Report
from .form import differs
from .record import Repetition

#: Fields of a description, and the reason that a difference gives.
ALWAYS = {"network": "network", "seed": "seed", "inject": "timers"}
#: Fields that a category may allow to set; placement and exchange are the schedule's where nothing is given.
CHOICES = ("delay_ratio", "schedule", "lag", "placement", "exchange", "wire")
#: What a bidder may record besides; it costs time and saves none.
RECORDED = ("energy", "energy_interval_s", "energy_sensors", "idle_pause_s")
OWN_PLACEMENT = ("round_robin", "area")


def check_runs(answered: list, bundle: Bundle, report: Report) -> None:
    """Checks that every run of the tender is answered once and has all repetitions; `answered`: runs."""
    names = [run["name"] for run in answered]
    for name in names:
        if bundle.rule(name) is None:
            report.say("form", "answer.json", f"runs: {name} is no run of the tender")
        elif names.count(name) > 1:
            report.say("form", "answer.json", f"runs: {name} stands twice")
    for rule in bundle.rules:
        name = rule["name"]
        if name not in names:
            if rule["measured"]:
                report.say(
                    "run missing", "answer.json", f"runs: {name} must be measured, and is not answered"
                )
            continue
        run = answered[names.index(name)]
        folders = [repetition["folder"] for repetition in run["repetitions"]]
        wanted = [f"runs/{name}/{k}" for k in range(1, len(folders) + 1)]
        if sorted(folders) != sorted(wanted):
            report.say("repetition missing", "answer.json", f"{name}: folders are {', '.join(folders)[:200]}")
        if len(folders) < rule["repetitions"]:
            text = f"{name}: {len(folders)} repetitions; the tender wants {rule['repetitions']}"
            report.say("repetition missing", "answer.json", text)


def check_rules(
    run: dict, found: list, category: str, unchanged: bool, bundle: Bundle, report: Report
) -> None:
    """Checks the repetitions `found` of one run against its description and the rules of the category.

    `unchanged`: the environment says that the sources are those of the tender, whatever their commit.
    """
    rule, tender = bundle.rule(run["name"]), bundle.tender
    if rule is None:
        return
    allowed = tender["categories"].get(category)
    if allowed is None:
        known = ", ".join(tender["categories"])
        report.say("form", "answer.json", f"category={category!r}: allowed is {known}")
        allowed = {"changes": [], "flags": ["*"]}
    for one in found:
        where = f"{one.folder}/record.json"
        if not one.measured:
            report.say("not measured", where, f"kind={one.record['kind']!r}")
        _check_program(one, where, allowed, tender, unchanged, report)
        _check_layout(one, where, run, rule, report)
        if run["name"] in bundle.descriptions:
            _check_description(one, where, run, rule, allowed, bundle.descriptions[run["name"]], report)
        _check_length(one, where, rule, report)
    if len({one.record["description"]["time"]["simulate_ms"] for one in found}) > 1:
        report.say("model time", f"runs/{run['name']}", "repetitions have different time.simulate_ms")


def _check_program(
    one: Repetition, where: str, allowed: dict, tender: dict, unchanged: bool, report: Report
) -> None:
    made = one.record["provenance"]
    for flag in made["flags"].split():
        if not any(fnmatchcase(flag, pattern) for pattern in allowed["flags"]):
            report.say("flags", where, f"provenance.flags: {flag} is not allowed in this category")
    if made["version"] != tender["spikemark_version"]:
        report.say(
            "version", where, f"provenance.version={made['version']}: tender {tender['spikemark_version']}"
        )
    if made["dirty"]:
        report.say("version", where, "provenance.dirty: the sources were changed")
    commit = made.get("commit")
    if commit is not None and tender.get("commit") not in (None, commit):
        text = f"provenance.commit={str(commit)[:12]}: tender {tender['commit'][:12]}"
        if unchanged:
            report.note(f"{text}; by environment.json, what was measured is made from the tender's sources")
        else:
            report.say("version", where, text)


def _check_layout(one: Repetition, where: str, run: dict, rule: dict, report: Report) -> None:
    layout, record = run["layout"], one.record
    found = {"ranks": record["ranks"], "threads": record["threads"], "nodes": record["host"]["nodes"]}
    used = {rank["node"] for rank in one.ranks or []}
    if one.ranks is not None and used != set(range(found["nodes"])):
        text = f"host.nodes={found['nodes']}: by ranks.csv, {len(used)} of the numbers 0 to {max(used)} ran"
        report.say("layout", where, text)
    nodes = record["host"].get("per_node")
    if nodes is not None and (len(nodes), sum(node["ranks"] for node in nodes)) != (
        found["nodes"],
        record["ranks"],
    ):
        report.say(
            "layout", where, f"host.per_node: {len(nodes)} nodes, whose ranks do not add up to the run's"
        )
    for name, value in found.items():
        if layout.get(name) not in (None, value):
            report.say("layout", where, f"{name}={value}: answer.json says {layout[name]}")
    if rule.get("nodes") not in (None, found["nodes"]):
        report.say("layout", where, f"nodes={found['nodes']}: the tender wants {rule['nodes']}")


def _check_description(
    one: Repetition, where: str, run: dict, rule: dict, allowed: dict, wanted: dict, report: Report
) -> None:
    wanted, found = filled(wanted), filled(one.record["description"])
    for name, reason in ALWAYS.items():
        said = differs(wanted[name], found[name], name)
        if said is not None:
            report.say(reason, where, f"description.{said}")
    for name, value in wanted["record"].items():
        said = None if name in RECORDED else differs(value, found["record"].get(name), f"record.{name}")
        if said is not None:
            report.say("timers", where, f"description.{said}")
    for name in sorted({*found["record"]} - {*wanted["record"], *RECORDED}):
        report.say("timers", where, f"description.record.{name} is not in the tender")
    time, asked = found["time"], wanted["time"]
    for name in ("resolution_ms", "cycle_ms", "warmup_ms"):
        said = differs(float(asked[name]), time[name], f"time.{name}")
        if said is not None:
            report.say("warm-up" if name == "warmup_ms" else "model time", where, f"description.{said}")
    lengths = rule.get("model_ms") or [asked["simulate_ms"]]
    if time["simulate_ms"] not in lengths:
        allowed_ms = ", ".join(f"{ms:g}" for ms in lengths)
        report.say(
            "model time",
            where,
            f"description.time.simulate_ms={time['simulate_ms']}: allowed is {allowed_ms}",
        )
    if "model_ms" in run and run["model_ms"] != time["simulate_ms"]:
        report.say(
            "model time", where, f"time.simulate_ms={time['simulate_ms']}: answer.json says {run['model_ms']}"
        )
    _check_choices(where, run, allowed["changes"], wanted, found, report)


def _check_choices(where: str, run: dict, changes: list, wanted: dict, found: dict, report: Report) -> None:
    for name in CHOICES:
        if name in wanted:
            same = differs(wanted[name], found.get(name), name) is None or wanted[name] == "auto"
        else:  # the schedule's own; another schedule must be disclosed itself
            same = found.get(name) in (None, *OWN_PLACEMENT) or "schedule" in run["set"]
        if same or (name == "exchange" and found.get(name) == "ialltoallv" and wanted[name] == "alltoallv"):
            continue
        if name not in changes:
            report.say(
                "not allowed", where, f"description.{name} differs from the tender's, in this category"
            )
        elif name not in run["set"]:
            implied = name in ("placement", "exchange") and "schedule" in run["set"]
            if not implied:
                report.say(
                    "not allowed", where, f"description.{name} differs, and `set` of the answer is silent"
                )
    for name in run["set"]:
        if name.split(".")[0] not in changes:
            report.say(
                "not allowed",
                "answer.json",
                f"set.{name}: allowed in this category: {', '.join(changes) or 'nothing'}",
            )
    known = {*CHOICES, *ALWAYS, "time", "record", "format_version"}
    for name in sorted({*found} - known):
        report.say("not allowed", where, f"description.{name} is not in the tender")


def _check_length(one: Repetition, where: str, rule: dict, report: Report) -> None:
    spent, lengths = one.record["timing"]["simulate_s"], rule.get("model_ms")
    longest = one.record["description"]["time"]["simulate_ms"] >= max(lengths) if lengths else False
    if spent < rule["minimum_seconds"] and not longest:
        report.say(
            "too short", where, f"timing.simulate_s={spent:.4g}: at least {rule['minimum_seconds']:g} s"
        )

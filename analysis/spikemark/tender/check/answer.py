"""Checks an answer to a tender: all of the checks, in order."""

from __future__ import annotations

import os

from .bundle import MANIFEST_FILE, Bundle, check_files, read_bundle, read_form
from .copies import Course, places_of, repeated, same
from .energy import check_channels, check_energy
from .figures import check_commitment, check_figures
from .findings import Report
from .forms import ANSWER, COMMITMENT, ENVIRONMENT, MANIFEST
from .machine import changed_sources, check_environment, check_machine, check_one_after_another
from .reading import Unusable
from .record import read_repetition
from .rules import check_rules, check_runs
from .signature import check_signature
from .spikes import check_one_checksum, check_spikes
from .times import check_created, check_times
from .waiting import check_waiting

SHARED = ("record.json", "cycles.npy", "ranks.csv")  # files that differ between any two runs


def check_answer(folder: str, bundle_folder=None, key=None) -> Report:
    """The report on the answer in a folder; `key`: the file of a public key."""
    report = Report()
    if not os.path.isdir(folder):
        report.say("part missing", folder, "no such folder")
        return report
    bundle = read_bundle(bundle_folder, report) or Bundle(bundle_folder or "")
    listed = _check_manifest(folder, bundle, report)
    check_signature(folder, key, report)
    answer = read_form(folder, "answer.json", ANSWER, report, "answer.json")
    environment = read_form(folder, "environment.json", ENVIRONMENT, report, "environment.json")
    commitment = read_form(folder, "commitment.json", COMMITMENT, report, "commitment.json")
    if environment is not None:
        check_environment(environment, report)
    if answer is None:
        return report
    report.about.update({name: answer[name] for name in ("bidder", "category")})
    if bundle.tender is not None:
        report.about["tender"] = bundle.tender["name"]
        check_runs(answer["runs"], bundle, report)
    if bundle.sha256 is not None and answer["bundle_sha256"] != bundle.sha256:
        report.say("other bundle", "answer.json", "bundle_sha256 is not the hash of this bundle's manifest")
    _check_same_files(answer["runs"], listed, report)
    power = (commitment or {}).get("power") or {}
    idle, limit = power.get("node_idle_w"), power.get("node_limit_w")
    if limit is None and bundle.tender is not None:
        limit = bundle.tender["power"].get("node_limit_w")
    unchanged = environment is not None and changed_sources(environment) == []
    rules = answer["category"], unchanged
    everything, figures, by_run = [], {}, []
    for run in answer["runs"]:
        found = _check_run(folder, run, rules, bundle, (idle, limit), report)
        figures[run["name"]] = check_figures(run, {one.folder: one for one in found}, bundle, report)
        everything += found
        by_run.append(found)
    _check_copies(by_run, bundle.tolerances["copies"], report)
    _check_told(answer["runs"], listed, report)
    check_created(answer["created"], "answer.json", [one.span for one in everything if one.span], report)
    check_machine(everything, environment, report)
    check_one_after_another(everything, report)
    if commitment is not None:
        check_commitment(commitment, answer, figures, bundle, report)
    return report


def _check_manifest(folder: str, bundle: Bundle, report: Report) -> dict:
    """Checks the files of the answer; returns those listed in its manifest."""
    if not os.path.lexists(os.path.join(folder, MANIFEST_FILE)):
        report.say("no manifest", MANIFEST_FILE, "not there; `spikemark tender run` writes it")
        return {}
    content = read_form(folder, MANIFEST_FILE, MANIFEST, report, MANIFEST_FILE)
    if content is None:
        return {}
    try:
        check_files(folder, content["files"], ("file missing", "file extra", "file changed"), report)
    except (OSError, Unusable) as error:
        report.say("file changed", folder, f"cannot be read: {error}")
    if bundle.sha256 is not None and content.get("bundle_sha256") != bundle.sha256:
        report.say("other bundle", MANIFEST_FILE, "bundle_sha256 is not the hash of this bundle's manifest")
    return content["files"]


def _check_same_files(runs: list, listed: dict, report: Report) -> None:
    known = {}
    for run in runs:
        for repetition in run["repetitions"]:
            for name in SHARED:
                path = f"{repetition['folder']}/{name}"
                if path in listed:
                    first = known.setdefault(listed[path]["sha256"], path)
                    if first != path:
                        report.say("same files", path, f"the same file as {first}")


def _check_told(runs: list, listed: dict, report: Report) -> None:
    """Checks that answer.json names every repetition that the answer holds."""
    told = {f"{repetition['folder']}/record.json" for run in runs for repetition in run["repetitions"]}
    for path in sorted(listed):
        if path.startswith("runs/") and path.endswith("/record.json") and path not in told:
            report.say("repetition figure", path, "a repetition that answer.json does not name")


def _check_run(folder: str, run: dict, rules: tuple, bundle: Bundle, limits: tuple, report: Report) -> list:
    """Checks one run of the answer; returns the repetitions that can be used."""
    stated = {told["folder"]: told for told in run["repetitions"]}
    found = [read_repetition(folder, told["folder"], report) for told in run["repetitions"]]
    found = [one for one in found if one is not None]
    if bundle.tender is not None:
        check_rules(run, found, *rules, bundle, report)
    tolerances, required = bundle.tolerances, bool(bundle.tender and bundle.tender["power"]["required"])
    for one in found:
        if not one.measured:
            continue
        check_times(one, tolerances, report)
        check_waiting(one, tolerances["waiting"], report)
        check_spikes(one, bundle.expected.get(run["name"]), tolerances, report)
        check_energy(one, stated[one.folder], limits, required, tolerances["energy"], report)
    check_channels(found, report)
    check_one_checksum(run["name"], found, report)
    return found


def _check_copies(runs: list, limit: float, report: Report) -> None:
    """Looks for copies among repetitions, and for copied cycles within each; `runs`: those of each run."""
    places = places_of([one for found in runs for one in found])
    courses = []
    for number, found in enumerate(runs):
        for one in found:
            if one.measured and one.times is not None:
                courses.append((number, Course(one, places)))
    for i, (number, course) in enumerate(courses):
        where, said = f"{course.folder}/cycles.npy", repeated(course)
        if said is not None:
            report.say("copies", where, said)
        for other_number, other in courses[:i]:
            said = same(course, other, limit, number == other_number)
            if said is not None:
                report.say("copies", where, f"a copy of {other.folder}: {said}")

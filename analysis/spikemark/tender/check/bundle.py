"""The bundle of the buyer: its files are as its manifest says, and what they hold."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from .findings import Report
from .forms import DESCRIPTION, EXPECTED, MANIFEST, TENDER
from .reading import Absent, Unusable, files_below, json_of, sha256_of

MANIFEST_FILE = "manifest.json"
SIGNATURES = ("manifest.json.sig", "manifest.json.minisig")
#: Tolerances where the tender states none. `copies`: correlation of the phases of two repetitions.
TOLERANCES = {
    "phase_sum": 0.001,
    "waiting": 0.05,
    "clock": 0.01,
    "events": 0.0,
    "rates": 0.02,
    "energy": 0.05,
    "copies": 0.98,
}


@dataclass
class Bundle:
    """What a bundle holds. Dicts are by the name of a run and lack what could not be read."""

    path: str
    sha256: str | None = None  # of its manifest
    tender: dict | None = None
    descriptions: dict = field(default_factory=dict)
    expected: dict = field(default_factory=dict)

    @property
    def rules(self) -> list:
        """The entries of `runs` in tender.json."""
        return self.tender["runs"] if self.tender else []

    def rule(self, name: str):
        """The entry of that run; None where there is none."""
        return next((rule for rule in self.rules if rule["name"] == name), None)

    @property
    def tolerances(self) -> dict:
        """The tender's tolerances, and TOLERANCES where it has none."""
        return {**TOLERANCES, **(self.tender["plausibility"] if self.tender else {})}


def read_form(folder: str, name: str, look, report: Report, shown: str):
    """The content of a JSON file if it has its form; None, with a finding, if not. Files may be absent."""
    try:
        content = json_of(os.path.join(folder, *name.split("/")))
    except Absent as why:
        report.say("part missing", shown, str(why))
        return None
    except Unusable as why:
        report.say("form", shown, str(why))
        return None
    said = look(content, "")
    if said is not None:
        report.say("form", shown, said)
        return None
    return content


def check_files(folder: str, listed: dict, names: tuple, report: Report, shown: str = "") -> None:
    """Compares a folder with the files of its manifest; `names`: reasons for missing, extra, changed."""
    missing, extra, changed = names
    files, others = files_below(folder)
    for name in others:
        report.say("link", shown + name, "neither a regular file nor a folder with files")
    there = set(files) - {MANIFEST_FILE, *SIGNATURES}
    for name in sorted(set(listed) - there):
        report.say(missing, shown + name, "listed in the manifest, and not there")
    for name in sorted(there - set(listed)):
        if extra is None:
            report.note(f"{shown}{name}: not in the manifest of the bundle")
        else:
            report.say(extra, shown + name, "there, and not listed in the manifest")
    for name in sorted(there & set(listed)):
        try:
            size, digest = sha256_of(os.path.join(folder, *name.split("/")))
        except OSError as error:
            report.say(missing, shown + name, f"cannot be read: {error.strerror}")
            continue
        if (size, digest) != (listed[name]["bytes"], listed[name]["sha256"]):
            report.say(
                changed, shown + name, f"{size} bytes, sha256 {digest[:16]}…; the manifest has another"
            )


def read_bundle(folder, report: Report) -> Bundle | None:
    """Reads the bundle; None, with a finding, where there is none."""
    if folder is None or not os.path.isfile(os.path.join(folder, MANIFEST_FILE)):
        report.say("no bundle", folder or "bundle", "give the folder of the tender as --bundle")
        return None
    found = Bundle(folder)
    listed = read_form(folder, MANIFEST_FILE, MANIFEST, report, "bundle/manifest.json")
    if listed is None:
        return None
    try:
        found.sha256 = sha256_of(os.path.join(folder, MANIFEST_FILE))[1]
        check_files(folder, listed["files"], ("bundle changed", None, "bundle changed"), report, "bundle/")
    except (OSError, Unusable) as error:
        report.say("bundle changed", "bundle", f"cannot be read: {error}")
        return None
    found.tender = read_form(folder, "tender.json", TENDER, report, "bundle/tender.json")
    if found.tender is None:
        return None
    source = listed["files"].get("source.tar.gz", {}).get("sha256")
    if source != found.tender["source_sha256"]:
        report.say(
            "source changed",
            "bundle/source.tar.gz",
            f"tender.json states {found.tender['source_sha256'][:16]}…",
        )
    if found.tender.get("quick"):
        report.note("the bundle is a try of the procedure: an answer to it is no answer to a tender")
    for rule in found.rules:
        name = rule["name"]
        content = read_form(folder, rule["description"], DESCRIPTION, report, f"bundle/{rule['description']}")
        if content is not None:
            found.descriptions[name] = content
        known = read_form(folder, f"expected/{name}.json", EXPECTED, report, f"bundle/expected/{name}.json")
        if known is not None:
            found.expected[name] = known
    return found

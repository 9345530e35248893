"""The files of a tender: tender.json, answer.json, the secret, manifest.json, and the bundle.

A value of None was not stated or not measured.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.core.fields import assign, checked
from spikemark.core.files import write_json
from spikemark.core.reading import read_json

VERSION = 3  #: of tender.json and answer.json
TENDER, RULES, SOURCE = "tender.json", "RULES.md", "source.tar.gz"
ANSWER, ENVIRONMENT = "answer.json", "environment.json"
MANIFEST, SIGNATURE = "manifest.json", "manifest.json.sig"
#: Figures of merit, with heading and unit. Smaller is better.
RTF, JOULES, POWER = "real_time_factor", "joules_per_synaptic_event", "power_w"
FIGURES = {RTF: ("real-time factor", ""), JOULES: ("energy per synaptic event", "J")}
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"

#: Types of single values; a path stays inside its folder.
SCALARS: dict[str, Any] = {
    "str": str, "bool": bool, "any": Any, "real": float,
    "name": Annotated[str, Field(pattern=f"^{NAME}$")],
    "path": Annotated[str, Field(pattern=f"^{NAME}(/{NAME})*$")],
    "above_0": Annotated[float, Field(gt=0, le=1e18)], "from_0": Annotated[float, Field(ge=0)],
    "positive": Annotated[int, Field(ge=1, le=10**12)], "count": Annotated[int, Field(ge=0)],
}  # fmt: skip
#: Parts of the files, `field:type` each. `?`: may be null; `[x]`: a list of x; `+`: not an empty one; `{x}`:
#: an object whose values are x; `'x|y'`: one of these words; a digit: that number.
TABLE = """
# counts of a measured part of model_ms; null where neurons have no rates of their own
Counts: model_ms:above_0 spikes:count? synaptic_events:count?
# times: one entry for each model time that a bidder may choose, the longest first
Expected: neurons:count synapses:count tolerance:from_0 times:[Counts]+ rates_hz:{real} rates_source:str \
  events_per_s:above_0
# measured: its figures must be measured; nodes: null leaves the number to the bidder
Rule: name:name size:'small|medium|large|target' scaling:str measured:bool repetitions:positive \
  minimum_seconds:above_0 nodes:positive? expected:Expected
Target: network:str real_time_factor:above_0? joules_per_synaptic_event:above_0?
# fields of the description that a bidder may set, and patterns of allowed compiler flags
Category: changes:[str] flags:[str]
PowerRule: required:bool idle_seconds:from_0
Tender: kind:'tender' format_version:3 name:name quick:bool created:str spikemark_version:str \
  commit:str source_sha256:str reference_memory_gb:above_0 target:Target runs:[Rule]+ \
  categories:{Category} power:PowerRule
# median, smallest and largest value of the repetitions
Range: value:above_0 low:above_0 high:above_0
# folder of the record, figures, and the file with the readings of power
Repetition: folder:path real_time_factor:above_0 joules_per_synaptic_event:above_0? readings:path?
Placed: ranks:positive threads:positive nodes:positive
# figures: null, with the reason, where one was not measured
Answered: name:name layout:Placed set:{any} model_ms:above_0 repetitions:[Repetition]+ figures:{Range?} \
  reason:str?
# a figure, or the power in W of all nodes, that was not measured; low to high is an interval of 95 %
Projection: run:name figure:'real_time_factor|joules_per_synaptic_event|power_w' value:above_0 \
  low:above_0 high:above_0 nodes:positive method:str assumes:[str]
# what the acceptance run is held against, and what it rests on
Promise: run:name figure:'real_time_factor|joules_per_synaptic_event' value:above_0 \
  basis:'measured|projected'
Offer: machine:str nodes:positive price:above_0? currency:str node_limit_w:above_0? node_idle_w:from_0?
# hash of the file that was started, and how it was built
Program: sha256:str compiler:str flags:str mpi_library:str version:str
Answer: kind:'tender_answer' format_version:3 bundle_sha256:str tender:str quick:bool bidder:str \
  category:str created:str program:Program offer:Offer runs:[Answered] projected:[Projection] \
  committed:[Promise]
# the result that a run with the secret seed must have, and NAME.secret.json
Prepared: run:str model_ms:above_0 checksum:str totals:{count}
Secret: kind:'tender_secret' format_version:3 bundle_sha256:str seed:count prepared:Prepared?
# of a bundle or an answer
File: sha256:str bytes:count
Manifest: kind:'tender_manifest' format_version:3 files:{File}
Environment: kind:'tender_environment' format_version:3 nodes:[{any}]
"""


class Whole(BaseModel):
    """Strict fields; none is unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class _Rule(Whole):
    @property
    def model_ms(self) -> list[float]:
        """The model times that a bidder may choose, the longest first."""
        return [one.model_ms for one in self.expected.times]


class _Tender(Whole):
    def run(self, name: str) -> Any:
        """The rule, or the measured run, of that name; None where there is none."""
        return next((run for run in self.runs if run.name == name), None)

    @property
    def target_rule(self) -> Any:
        """The run of the target."""
        return next((rule for rule in self.runs if rule.size == "target"), self.runs[-1])


class _Answer(Whole):
    run = _Tender.run

    def evidence(self, run: str, figure: str) -> tuple[Any, str]:
        """The measured figure (Range), or else the projected one, or None; and which of both it is."""
        found = self.run(run)
        if found and found.figures.get(figure):
            return found.figures[figure], "measured"
        made = (p for p in self.projected if (p.run, p.figure) == (run, figure))
        return next(made, None), "projected"

    def promised(self, run: str, figure: str) -> float | None:
        """The committed figure of a run."""
        return next((p.value for p in self.committed if (p.run, p.figure) == (run, figure)), None)


def _parts() -> dict[str, Any]:
    """The models of TABLE by name."""
    known = dict(SCALARS)
    bases = {"Rule": _Rule, "Tender": _Tender, "Answer": _Answer}

    def kind(words: str) -> Any:
        if words[-1] == "?":
            return kind(words[:-1]) | None
        if words[-1] == "+":
            return Annotated[kind(words[:-1]), Field(min_length=1)]
        if words[0] in "[{":
            return list[kind(words[1:-1])] if words[0] == "[" else dict[str, kind(words[1:-1])]
        if words[0] == "'":
            return Literal[*words[1:-1].split("|")]
        return Literal[int(words)] if words.isdigit() else known[words]

    for name, fields in re.findall(r"^(\w+): (.*)$", TABLE, re.MULTILINE):
        of = {n: (kind(words), ...) for n, words in (one.split(":") for one in fields.split())}
        known[name] = create_model(name, __base__=bases.get(name, Whole), **of)
    return known


_PARTS = _parts()
Tender, Answer, Secret, Prepared = (_PARTS[n] for n in ("Tender", "Answer", "Secret", "Prepared"))
Rule, Manifest, Environment = (_PARTS[n] for n in ("Rule", "Manifest", "Environment"))


def read(kind: type, path: Path, command: str) -> Any:
    """A file of a tender, which `spikemark tender COMMAND` writes. Raises BadInput for any other file."""
    content = read_json(path, f"expected a folder that `spikemark tender {command}` wrote")
    return checked(kind, content, path, path.stem)


def read_answer(folder: Path) -> Answer:
    """answer.json of a folder. Raises BadInput where it is none."""
    return read(Answer, folder / ANSWER, "answer")


# ---------------------------------------------------------------- the bundle, and manifests


@dataclass(frozen=True)
class Bundle:
    """A bundle that is as its manifest says; `sha256` is the hash of the manifest."""

    path: Path
    tender: Tender
    sha256: str

    def file(self, rule: Rule) -> Path:
        """The run description of a run."""
        return self.path / "runs" / f"{rule.name}.json"

    def description(self, rule: Rule, changed: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The run description of a run with fields set. Raises BadInput for a path that does not exist."""
        found = read_json(self.file(rule))
        for name, value in (changed or {}).items():
            assign(found, name, value)
        return found

    def check_set(self, category: str, given: dict[str, Any]) -> None:
        """Raises BadInput for an unknown category, and for a field that it does not let a bidder set."""
        if category not in self.tender.categories:
            raise BadInput.of("category", category, " or ".join(self.tender.categories))
        changes = self.tender.categories[category].changes
        for name in given:
            if name.split(".")[0] not in changes:
                raise BadInput.of("set", name, f"in the category {category}: {', '.join(changes) or 'none'}")

    def rules(self, names: list[str] | None) -> list[Rule]:
        """The runs of these names, or else all that must be measured. Raises BadInput for unknown names."""
        for name in names or []:
            if self.tender.run(name) is None:
                raise BadInput.of("run", name, ", ".join(rule.name for rule in self.tender.runs))
        return [rule for rule in self.tender.runs if (rule.name in names if names else rule.measured)]


def read_bundle(path: Path) -> Bundle:
    """The bundle in a folder. Raises BadInput where it is none, or differs from its manifest."""
    for name, what in sorted(compare_manifest(path).items()):
        raise BadInput(f"{path / name}: {what}; expected the bundle as it was published")
    tender = read(Tender, path / TENDER, "new")
    return Bundle(path.resolve(), tender, sha256.of(path / MANIFEST))


def _files(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and hash of every file of a folder, without manifest and signature."""
    own = {folder / MANIFEST, folder / SIGNATURE}
    return {
        path.relative_to(folder).as_posix(): {"sha256": sha256.of(path), "bytes": path.stat().st_size}
        for path in sorted(folder.rglob("*")) if path.is_file() and path not in own
    }  # fmt: skip


def write_manifest(folder: Path) -> None:
    """Writes size and hash of every file of a folder."""
    content = {"kind": "tender_manifest", "format_version": VERSION, "files": _files(folder)}
    write_json(folder / MANIFEST, content)


def compare_manifest(folder: Path) -> dict[str, str]:
    """Files that differ from the manifest of a folder, and how. Raises BadInput where there is none."""
    listed, there = read(Manifest, folder / MANIFEST, "new").model_dump()["files"], _files(folder)
    found = dict.fromkeys(listed.keys() - there, "missing")
    found |= dict.fromkeys(there.keys() - listed, "not in the manifest")
    changed = (name for name in there.keys() & listed if there[name] != listed[name])
    return found | dict.fromkeys(changed, "differs from the manifest")

"""A bundle: the folder that a buyer hands to bidders."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json

from . import manifest
from .fields import Rule, Tender

TENDER, RULES, SOURCE, CHECK = "tender.json", "RULES.md", "source.tar.gz", "check.py"


@dataclass(frozen=True)
class Bundle:
    """A bundle that is as its manifest says; `sha256` is the hash of that."""

    path: Path
    tender: Tender
    sha256: str

    def description(self, rule: Rule) -> Path:
        """The run description of a run."""
        return self.path / rule.description

    def expected(self, rule: Rule) -> Path:
        """Known counts of a run."""
        return self.path / "expected" / f"{rule.name}.json"

    def read_expected(self, rule: Rule) -> dict[str, Any]:
        """The content of `expected`. Raises BadInput for a file that is none."""
        return read_json(self.expected(rule))

    @property
    def source(self) -> Path:
        """The frozen sources."""
        return self.path / SOURCE

    def rules(self, names: list[str] | None) -> list[Rule]:
        """The runs of these names, or else all that must be measured. Raises BadInput for an unknown name."""
        if not names:
            return [rule for rule in self.tender.runs if rule.measured]
        for name in names:
            if self.tender.rule(name) is None:
                known = ", ".join(rule.name for rule in self.tender.runs)
                raise BadInput(f"run={name!r}; allowed: {known}")
        return [rule for rule in self.tender.runs if rule.name in names]


def read(path: Path) -> Bundle:
    """The bundle in a folder. Raises BadInput where it is none, or differs from its manifest."""
    if not (path / TENDER).is_file():
        raise BadInput(f"{path}: no {TENDER}; allowed: a folder that `spikemark tender new` wrote")
    manifest.check(path)
    tender = checked(Tender, read_json(path / TENDER), path / TENDER, "tender")
    return Bundle(path.resolve(), tender, manifest.sha256(path / manifest.FILE))

"""The fields of machine profiles: a row of fields.csv for each, with its unit, limits and meaning."""

import csv
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

COUNT, POSITIVE, SHARE = "count", "positive", "share"
NOT_NEGATIVE, AT_LEAST_ONE, TEXT, TABLE = "not negative", "at least one", "text", "table"
#: Limits of each kind of number, in its unit.
LIMITS = {COUNT: (1, 10**9), POSITIVE: (1e-12, 1e12), NOT_NEGATIVE: (0, 1e12), SHARE: (0, 1),
          AT_LEAST_ONE: (1, 1e12)}  # fmt: skip
KINDS = ("measured", "literature", "assumed")
MODELS = "update"  # the part of a path below which values go by neuron model
FABRIC = "interconnect.fabric"
#: Tables of collectives, by how their ranks lie on nodes.
WITHIN, BETWEEN, FULL = "tables", "tables_between", "tables_full"
LAYOUTS = {
    WITHIN: "ranks of one node, or as the reference says",
    BETWEEN: "one rank on each node",
    FULL: "a rank on every core of each node",
}
#: What a * in a path of fields.csv means, by what comes before it: the parts of paths, and what they mean.
EACH = {
    "kernels.": {"one_core": "one core at work", "full_node": "every core at work"},
    "interconnect.": LAYOUTS,
}
#: Pairs of which the first must not be larger than the second.
ORDERED = (("node.sockets", "node.cores"), ("node.l3_cores", "node.cores"),
           ("node.bandwidth_core", "node.bandwidth"), ("node.bandwidth", "node.bandwidth_peak"))  # fmt: skip


@dataclass(frozen=True)
class Field:
    """A value at `path`. Texts have no unit; `choices` of a text, if only some are possible.

    A table has rows of ranks, bytes (from each rank to each other one) and duration.
    """

    path: str
    unit: str | None
    allowed: str
    meaning: str
    choices: tuple[str, ...] = ()

    @property
    def models(self) -> bool:
        """True if the field has a value for every neuron model."""
        return self.path.endswith(f".{MODELS}")

    @property
    def expected(self) -> str:
        """Its possible values, for a complaint."""
        if self.allowed == TEXT:
            return f"one of {', '.join(self.choices)}" if self.choices else "a text"
        low, high = LIMITS[self.allowed]
        return f"a {'whole ' * (self.allowed == COUNT)}number from {low:g} to {high:g}"

    def holds(self, value: Any, end: bool = False) -> bool:
        """True if a value, or the `end` of its interval, is possible."""
        if self.allowed == TEXT:
            return isinstance(value, str) and bool(value.strip()) and value in (self.choices or (value,))
        kinds = (int,) if self.allowed == COUNT and not end else (int, float)
        low, high = LIMITS[self.allowed]
        return isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high


def _read() -> list[Field]:
    with Path(__file__).with_name("fields.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for start, group in groupby(rows, lambda row: row["path"].partition("*")[0]):
        block = list(group)
        named = "*" in block[0]["path"]
        start = start if start.endswith(".") else start.rpartition(".")[0] + "."
        for part, where in EACH[start].items() if named else [("", "")]:
            for row in block:
                path = f"{start}{part}.{row['path'].rpartition('.')[2]}" if named else row["path"]
                choices = tuple(row["expected"].split("|")) if "|" in row["expected"] else ()
                meaning = ", ".join(filter(None, (row["meaning"], where)))
                allowed = TEXT if choices else row["expected"]
                found.append(Field(path, row["unit"] or None, allowed, meaning, choices))
    return found


FIELDS = _read()
FIELD = {field.path: field for field in FIELDS}
PATHS = tuple(FIELD)

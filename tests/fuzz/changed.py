"""Reads changed files: makes the files of a reader once, changes one of them, reads, and puts it back."""

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import judged
import mutations
import readers
from mutations import Edit


@dataclass(frozen=True)
class Finding:
    """What a reader did with edits of a file."""

    reader: str
    file: str
    edits: list[Edit]
    said: str

    def __str__(self) -> str:
        return f"{self.reader}: {self.said}\n    {self.file} after {self.edits}"


class Files:
    """The real files of a reader in `folder`/NAME, and a copy of them to be changed."""

    def __init__(self, name: str, folder: Path):
        self.name, self.reader = name, readers.READERS[name]
        self.whole, self.copy = folder / "whole" / name, folder / "changed" / name
        self.whole.mkdir(parents=True)
        self.reader.make(self.whole)
        self.names = [p.relative_to(self.whole) for p in judged.changed_files(self.reader, self.whole)]
        shutil.copytree(self.whole, self.copy)

    def complaint(self, name: Path | None = None, edits: list[Edit] = ()) -> str | None:
        """What is wrong with reading the files of which `name` was edited; None if nothing is."""
        try:
            if name is not None:
                (self.copy / name).write_bytes(mutations.edited((self.whole / name).read_bytes(), edits))
            read = judged.apart if self.reader.apart else judged.complaint
            return read(self.reader, self.copy)
        finally:
            shutil.rmtree(self.copy)
            shutil.copytree(self.whole, self.copy)

    def shortest(self, name: Path, edits: list[Edit], said: str) -> Finding:
        """The finding with no more edits than it needs."""
        for edit in list(edits):
            fewer = [one for one in edits if one is not edit]
            if fewer and (again := self.complaint(name, fewer)):
                edits, said = fewer, again
        return Finding(self.name, str(name), edits, said)

    def attempt(self, rng: random.Random) -> Finding | None:
        """Reads one random change."""
        name = rng.choice(self.names)
        edits = mutations.draw(rng, mutations.kinds_for(name))
        said = self.complaint(name, edits)
        return self.shortest(name, edits, said) if said else None

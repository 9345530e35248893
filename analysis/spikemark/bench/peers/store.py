"""The results folder of a comparison: one file per attempt of a trial, and which attempt counts."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.running.quiet import Conditions

from .programs import Figures
from .trials import Trial

FORMAT_VERSION = 1


class Attempt:
    """One run as stored in runs/: `figures` are results in common terms, `content` is everything kept."""

    def __init__(self, content: dict[str, Any]):
        self.content = content
        self.figures = Figures.model_validate(content["figures"])

    @property
    def foreign_load(self) -> float | None:
        """Cores kept busy by others: the larger of the whole run's and its measured part's; None: unknown."""
        loads = (self.content["foreign_load"], self.figures.foreign_load)
        return max((load for load in loads if load is not None), default=None)

    def disturbed(self, conditions: Conditions) -> bool:
        """Says whether others took more than allowed; an unknown load is not held against a run."""
        return self.foreign_load is not None and self.foreign_load > conditions.foreign_limit


@dataclass(frozen=True)
class Store:
    """`path` is the results folder."""

    path: Path

    def failure(self, trial: Trial) -> Path:
        """Why a trial failed; its first line is the reason."""
        return self.path / "failed" / f"{trial.id}.log"

    def attempts(self, trial: Trial) -> list[Attempt]:
        """All attempts of a trial, oldest first. Raises BadInput naming a file that is not one."""
        attempts = []
        for path in sorted((self.path / "runs").glob(f"{trial.id}-*.json"), key=_number):
            try:
                content = json.loads(path.read_text())
                if content["format_version"] != FORMAT_VERSION:
                    raise ValueError(f"format_version {content['format_version']!r}")
                attempts.append(Attempt(content))
            except (ValueError, KeyError, TypeError) as error:
                reason = " ".join(str(error).split())
                raise BadInput(f"{path}: not a result: {reason}; delete it to measure again") from None
        return attempts

    def keep(self, trial: Trial, content: dict[str, Any]) -> Attempt:
        """Writes a new attempt, whole or not at all."""
        number = 1 + max(map(_number, (self.path / "runs").glob(f"{trial.id}-*.json")), default=0)
        content = {"format_version": FORMAT_VERSION, "trial": vars(trial), "attempt": number, **content}
        write_json(self.path / "runs" / f"{trial.id}-{number}.json", content)
        return Attempt(content)

    def result(self, trial: Trial, conditions: Conditions) -> Attempt | None:
        """The attempt that counts: the first undisturbed, else, after enough of them, the least disturbed.

        None as long as the trial should be measured (again).
        """
        attempts = self.attempts(trial)
        for attempt in attempts:
            if not attempt.disturbed(conditions):
                return attempt
        if len(attempts) < conditions.attempts:
            return None
        return min(attempts, key=lambda attempt: attempt.foreign_load)


def _number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])

"""Freezing predictions: only of runs that do not exist."""

from collections.abc import Iterable
from pathlib import Path

from spikemark import __version__
from spikemark.core.errors import BadInput

from . import chain, same_run, sources
from .entry import ASKED, METHODS, Entry
from .sources import Given


def add(
    ledger: Path,
    prediction: Path,
    results: Iterable[Path],
    asked: str,
    given: Given,
    methods: Iterable[str] = (),
    commit: str | None = None,
) -> list[Entry]:
    """Adds the predictions of a file or folder to a ledger; `methods` picks some of them.

    Raises BadInput for what holds no prediction, for unknown names, and if a record of a predicted run lies
    below one of the folders `results`.
    """
    if asked not in ASKED:
        raise BadInput(f"asked={asked!r}; allowed: {', '.join(ASKED)}")
    if unknown := [name for name in methods if name not in METHODS]:
        raise BadInput(f"method={unknown[0]!r}; allowed: {', '.join(METHODS)}")
    found = sources.found(prediction, given)
    wanted = [one for one in found if not methods or one["method"] in methods]
    if not wanted:
        raise BadInput(
            f"method={', '.join(methods)}: {prediction} has {', '.join(o['method'] for o in found)}"
        )
    runs = [run for folder in results for run in same_run.readable(Path(folder))]
    for one in wanted:
        there = next((run for run in runs if same_run.other(one["run"], run) is None), None)
        if there is not None:
            raise BadInput(
                f"results: the run exists already: {there.path}, started {there.record.provenance.started};"
                " a prediction is frozen before its run"
            )
    software = {"version": __version__, "commit": commit}
    return chain.add(ledger, [{"asked": asked, **one, "spikemark": software} for one in wanted])

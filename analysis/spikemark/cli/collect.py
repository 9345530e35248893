"""`spikemark collect`: the records of a results folder as tables for other tools."""

import typer

from . import panels, params
from .output import answer, complain

app = typer.Typer()


@app.command(rich_help_panel=panels.RECORDS)
def collect(results_dir: params.ResultsDir, json: params.Json = False) -> None:
    """Write the records of a results folder as tables (Parquet) for other tools."""
    from spikemark.quantities.words import counted
    from spikemark.records.collect import collect as write_tables
    from spikemark.records.frames import load_folder
    from spikemark.records.results import Results

    frames = load_folder(results_dir)
    complaints = write_tables(frames)
    summary = Results(results_dir).summary
    answer(
        "collect",
        json,
        lambda: {"runs": len(frames.runs), "file": str(summary), "complaints": complaints},
        [f"{counted(len(frames.runs), 'run')} in {summary}"],
    )
    complain(complaints)

"""Arguments and options that several commands share."""

import re
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

MOST_RANKS = 64  # numbers of ranks in one question
WHOLE = re.compile(r"[1-9][0-9]{0,8}")

Experiment = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="Name of a file in workflows/experiments, such as demo, or the path of such a file.",
    ),
]
Machine = Annotated[str | None, typer.Option(help="Name of the results folder, instead of the host name.")]
Root = Annotated[
    Path | None, typer.Option(help="Folder of all results, instead of results/ in the checkout.")
]
Folder = Annotated[
    Path, typer.Argument(metavar="RESULTS_DIR", help="A results folder: results/EXPERIMENT/MACHINE.")
]
Where = Annotated[
    str,
    typer.Option(
        help="Where to measure: here (this machine, or the allocation that this is in), slurm, or a folder"
        " with slurm.yaml or with a profile of Snakemake."
    ),
]
Run = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder of the run, with its record.")]
Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN_DIR…", help="Records of conventional runs of one setup on one machine or cluster."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
PresetName = Annotated[str | None, typer.Option("--preset", help="A known network instead of RUN.json.")]
Full = Annotated[bool, typer.Option("--full", help="Use the preset at its published size.")]
PresetOptions = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the preset; may be repeated."),
]
Rate = Annotated[
    float | None,
    typer.Option(help="Mean firing rate in Hz, if neither the network nor its publication gives it."),
]


def whole_numbers(text: str, name: str) -> list[int]:
    """The numbers of a text such as '16,32'. Raises BadInput for anything else."""
    parts = text.split(",")
    if len(parts) > MOST_RANKS or not all(WHOLE.fullmatch(part.strip()) for part in parts):
        raise BadInput(f"{name}={text!r}: up to {MOST_RANKS} whole numbers above 0 are needed, such as 16,32")
    return [int(part) for part in parts]


def network(files: list[Path], preset: str | None, full: bool, options: list[str] | None, rate: float | None):
    """The network that is asked about: a preset or one file. Raises BadInput for both and for neither."""
    from spikemark.prediction import asked

    if (len(files) == 1) == (preset is not None) or len(files) > 1:
        raise BadInput("one network is needed: RUN.json, or --preset NAME")
    if preset is None:
        if full or options:
            raise BadInput(f"--{'full' if full else 'option'}: only with --preset")
        return asked.of_file(files[0], rate)
    return asked.of_preset(preset, full, options, rate)

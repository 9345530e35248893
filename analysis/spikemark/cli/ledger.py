"""`spikemark ledger`: predictions that are frozen before their runs exist, and how they came out."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import AsJson, Settings
from .output import complain, print_json, print_lines, print_tables

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Freeze predictions before their runs exist, and score them later.",
)
Results = Annotated[
    list[Path],
    typer.Option("--results", metavar="DIR", help="Folder in which records of runs lie; may be repeated."),
]


@app.command()
def add(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER.jsonl", help="The ledger; made if missing.")],
    prediction: Annotated[
        Path,
        typer.Argument(
            metavar="PREDICTION",
            help="What `predict --json` or `whatif --json` printed, or the folder of a dry run or of a"
            " simulated run.",
        ),
    ],
    results: Results,
    asked: Annotated[str, typer.Option(help="What the prediction is about, such as schedule or network.")],
    base: Annotated[
        Path | None,
        typer.Option(
            "--of", metavar="RUN_DIR", help="Required without a machine: the run that was predicted from."
        ),
    ] = None,
    settings: Settings = None,
    change: Annotated[
        str | None, typer.Option(help="Required for `whatif`: which of its changes is made.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Only predictions by this method; may be repeated [all].")
    ] = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="The run will be simulated, not measured.")
    ] = False,
    within: Annotated[
        str | None,
        typer.Option(help="Interval for numbers without one, such as 30%."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Freeze a prediction: write it, with date and digest, to the end of a ledger.

    The run that is predicted must not exist yet: the command refuses a prediction if a record of that run
    lies below --results. Lines are never changed afterwards; `ledger score` finds lines that were.
    """
    from spikemark.documents.keep import UNKNOWN, commit
    from spikemark.prediction.ledger import adding, show
    from spikemark.prediction.ledger.sources import Given
    from spikemark.records import record

    given = Given(
        None if base is None else record.load(base), change, _changed(settings), _share(within), simulated
    )
    at = commit()
    made = adding.add(ledger, prediction, results, asked, given, method or [], None if at == UNKNOWN else at)
    if as_json:
        print_json([one.model_dump() for one in made])
        return
    print_lines(show.added(made, str(ledger)))


@app.command()
def score(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER.jsonl", help="The ledger.")],
    results: Results,
    head: Annotated[
        str | None,
        typer.Option(metavar="DIGEST", help="A digest of an entry that was noted when it was added."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page to this file.")] = None,
    docs: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Store the ledger and its scores for docs/.", hidden=True),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score the predictions of a ledger by the records of the runs that followed.

    A record belongs to a prediction if network and configuration are the same. Prints all predictions,
    failures first, and hit rates. An entry that was tampered with, or whose run is older than the prediction,
    is named and does not count; the exit status is then 1.
    """
    from spikemark.core.files import output_file
    from spikemark.prediction.ledger import chain, show
    from spikemark.prediction.ledger.score import score

    output_file("--html", html)
    made = score(chain.read(ledger), results, head)
    if html is not None:
        from spikemark.report import ledger_page

        ledger_page.write(made, html)
    if docs is not None:
        from spikemark.documents import ledgers

        ledgers.store(docs, made)
    if as_json:
        print_json(show.content(made))
    else:
        print_lines([show.sentence(made)])
        print_tables(show.table(made, narrow=True), *show.rates(made))
        print_lines(show.lines(made))
    complain(made.complaints)


def _changed(settings: list[str] | None) -> dict | None:
    """Fields of a description given as FIELD=VALUE, at its top. Raises BadInput for another form."""
    import json

    found = {}
    for text in settings or []:
        name, sign, value = text.partition("=")
        if not (name and sign) or "." in name:
            raise BadInput(f"--set {text!r}: allowed: FIELD=VALUE, a field at the top of a description")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found or None


def _share(text: str | None) -> float | None:
    """0.3 for '30%'. Raises BadInput for another form."""
    if text is None:
        return None
    try:
        share = float(text.removesuffix("%")) / 100 if text.endswith("%") else -1.0
    except ValueError:
        share = -1.0
    if not 0 < share <= 10:
        raise BadInput(f"within={text!r}; allowed: a percentage above 0 % up to 1000 %, such as 30%")
    return share

"""`spikemark budget` and `spikemark whatif`: where the waiting of a run comes from, what would change it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from spikemark.cli_lines import list_lines
from spikemark.errors import BadInput

Folder = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder of a run, with its record.json.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, times in seconds over the run.")]
Ratio = Annotated[
    int | None,
    typer.Option(
        help="D in cycles that tells jitter from drift, instead of that of the run.",
        min=2,
        show_default=False,
    ),
]


def budget(run_dir: Folder, delay_ratio: Ratio = None, as_json: AsJson = False) -> None:
    """Split the waiting of a run into lasting differences between ranks, jitter, drift, and what is left."""
    from spikemark import record
    from spikemark.waiting import budget as budgets

    run = record.load(run_dir)
    found = budgets.budget(run, delay_ratio)
    list_lines(list(found.warnings))
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=1))
        return
    per = run.record.timing.cycles * 1e-6
    typer.echo(f"{'us per cycle':22}{'mean':>9}   {'95 % interval':19}  share")
    typer.echo(f"{'waiting':22}{found.waiting_s / per:9.3f}")
    whole = found.waiting_s or 1.0
    for name, part in found.parts.items():
        typer.echo(f"{_line(f'  {name}', part, per)}{part.value_s / whole:7.1%}")
    if found.transport is not None:
        typer.echo(_line("transport", found.transport, per))
    typer.echo(f"{_line('common mode', found.common_mode, per)}  no waiting")
    typer.echo(f"\njitter is what averages out over {found.delay_ratio} cycles, drift what does not")
    if found.efficiency is not None:
        typer.echo("POP: " + ", ".join(f"{name} {value:.3f}" for name, value in found.efficiency.items()))


def whatif(
    run_dir: Folder,
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[+NAME]",
            help="Only this change, or several together; repeatable.",
            show_default="all",
        ),
    ] = None,
    schedule: Annotated[str, typer.Option(help="How the ranks of the base meet.")] = "conventional",
    delay_ratio: Annotated[int, typer.Option(help="D of the base.")] = 1,
    predictor: Annotated[str, typer.Option(help="iid, correlated or replay.")] = "replay",
    as_json: AsJson = False,
) -> None:
    """What waiting and run time would be if something about a conventional run were different."""
    from spikemark import record
    from spikemark.waiting import whatif as whatifs
    from spikemark.waiting.changes import CHANGES

    run = record.load(run_dir)
    base = whatifs.situation(run, schedule, delay_ratio)
    outcomes = whatifs.whatif(base, predictor=predictor, **({"names": change} if change else {}))
    refused = [f"{outcome.name}: {outcome.refused}" for outcome in outcomes if outcome.refused]
    if change and refused:
        raise BadInput(refused[0])
    list_lines(list(base.source.warnings))
    if as_json:
        typer.echo(json.dumps({outcome.name: _content(outcome) for outcome in outcomes}, indent=1))
        return
    per = base.source.cycles * 1e-6
    typer.echo(f"{'us per cycle':34}{'waiting':>9}   {'95 % interval':19}{'run time':>9}")
    for outcome in outcomes:
        found = outcome.prediction
        if found is None:
            typer.echo(f"{outcome.name:34}  refused: {outcome.refused}")
            continue
        low, high = (x / per for x in outcome.interval)
        interval = f"[{low:.3f}, {high:.3f}]"
        waiting, runtime = found.waiting_s / per, found.runtime_s / per
        typer.echo(f"{outcome.name:34}{waiting:9.3f}   {interval:19}{runtime:9.3f}")
    names = [name for name in CHANGES if any(name in outcome.name for outcome in outcomes)]
    typer.echo("\n" + "\n".join(f"{name}: {CHANGES[name].__doc__}" for name in names))


def _line(name: str, part, per: float) -> str:
    low, high = (x / per for x in part.interval)
    return f"{name:22}{part.value_s / per:9.3f}   {f'[{low:.3f}, {high:.3f}]':19}"


def _content(outcome) -> dict:
    if outcome.prediction is None:
        return {"refused": outcome.refused}
    found = outcome.prediction
    return {
        "waiting_s": found.waiting_s,
        "interval": outcome.interval,
        "runtime_s": found.runtime_s,
        "runtime_interval": outcome.runtime_interval,
        "schedule": found.plan.schedule,
        "delay_ratio": found.plan.delay_ratio,
        "ranks": found.plan.ranks,
    }

"""`spikemark fit`, `predict`, `coverage`: waiting for the slowest rank, from one conventional run."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .output import list_lines
from .predict import Full, PresetName, PresetOptions, Rate, network, on_machine, whole_numbers

Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN_DIR…", help="Records of conventional runs of one setup on one machine."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def fit(runs: Runs, as_json: AsJson = False) -> None:
    """What the cycle times of a conventional run are made of, and the waiting that each predictor expects."""
    from spikemark.waiting import PREDICTORS, show
    from spikemark.waiting.components import Components
    from spikemark.waiting.estimates import estimates

    source = _source(runs)
    found = estimates(Components(source.compute))
    made = {name: kind.fit(source).predict("conventional") for name, kind in PREDICTORS.items()}
    list_lines([f"warning: {text}" for text in source.warnings])
    if as_json:
        typer.echo(json.dumps(show.fitted_content(source, found) | show.predicted_content(made), indent=1))
    else:
        print_table(show.fitted(source, found, made))


def predict(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN_DIR… | RUN.json",
            help="Records of conventional runs of one setup; with --machine a run description.",
        ),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(help="conventional, structure_aware, overlapped, … [with --machine: the network's]"),
    ] = None,
    delay_ratio: Annotated[
        int | None,
        typer.Option(min=1, help="D: cycles between two exchanges of all ranks [1; or the network's]."),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(help="Up to four times those that were measured; with --machine several, as 16,32."),
    ] = None,
    lag: Annotated[int | None, typer.Option(min=1, help="L of overlapped (1).")] = None,
    group_period: Annotated[
        int | None, typer.Option(min=1, help="Cycles between two meetings of a group, of hierarchical (D).")
    ] = None,
    cycles: Annotated[
        int | None, typer.Option(min=1, help="Of the run asked about [as many as were fitted].")
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="A machine's profile, by name or file: no run is needed.")
    ] = None,
    preset: PresetName = None,
    full: Full = False,
    option: PresetOptions = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Of a rank, with --machine [all cores].")] = None,
    placement: Annotated[str | None, typer.Option(help="With --machine [the schedule's].")] = None,
    ranks_per_node: Annotated[
        int | None, typer.Option(min=1, help="With --machine [as many as fit].")
    ] = None,
    rate: Rate = None,
    as_json: AsJson = False,
) -> None:
    """Waiting and run time under another schedule, from a run; or all phases on a machine, from its profile.

    From a run by every predictor, with 95 % intervals. With --machine the network is RUN.json or a preset;
    every number has an interval and says how good its inputs are.
    """
    from spikemark.waiting import PREDICTORS, show

    own = {"placement": placement, "ranks_per_node": ranks_per_node}
    if machine is not None:
        _only_without({"cycles": cycles}, "only without --machine")
        _on_machine(runs or [], machine, preset, full, option, rate, schedule, delay_ratio, lag, group_period,
                    ranks, threads, own, as_json)  # fmt: skip
        return
    given = {"preset": preset, "full": full, "option": option, "threads": threads, "rate": rate, **own}
    _only_without(given, "only with --machine")
    if not runs or schedule is None:
        raise BadInput(f"{'RUN_DIR' if not runs else 'schedule'}: missing; or give --machine")
    count, ratio = None if ranks is None else _one(ranks), 1 if delay_ratio is None else delay_ratio
    source = _source(runs)
    made = {
        name: kind.fit(source).predict(schedule, ratio, count, lag, group_period, cycles)
        for name, kind in PREDICTORS.items()
    }
    list_lines([f"warning: {text}" for text in source.warnings])
    if as_json:
        typer.echo(json.dumps(show.predicted_content(made), indent=1))
    else:
        print_table(show.predicted(made))


def coverage(
    trials: Annotated[int, typer.Option(min=10, help="Runs drawn of each process.")] = 500,
    write: Annotated[Path | None, typer.Option(help="Write the table there instead.")] = None,
) -> None:
    """How often the intervals of the predictors hold the truth, on processes that are planted."""
    from spikemark.waiting import coverage as study
    from spikemark.waiting import coverage_ranks, show_coverage

    def say(text: str) -> None:
        typer.echo(text, err=True)

    page = show_coverage.page(study.study(trials, say=say), coverage_ranks.study(trials, say=say), trials)
    if write is None:
        typer.echo(page)
    else:
        write.write_text(page)


def _on_machine(
    runs, machine, preset, full, option, rate, schedule, delay_ratio, lag, group_period, ranks, threads, own,
    as_json,
) -> None:  # fmt: skip
    _only_without({"group_period": group_period}, "only without --machine")
    if ranks is None:
        raise BadInput("ranks: missing; numbers of ranks, as 16,32")
    found = network(runs, preset, full, option, rate)
    on_machine(found, machine, ranks, threads, as_json, delay_ratio, lag, schedule=schedule, **own)


def _only_without(given: dict, why: str) -> None:
    useless = [name.replace("_", "-") for name, value in given.items() if value not in (None, False, [])]
    if useless:
        raise BadInput(f"--{useless[0]}: {why}")


def _one(ranks: str) -> int:
    numbers = whole_numbers(ranks, "ranks")
    if len(numbers) > 1:
        raise BadInput(f"ranks={ranks!r}: one number; several only with --machine")
    return numbers[0]


def _source(runs: list[Path]):
    from spikemark.records import record
    from spikemark.waiting.source import source

    return source([record.load(path) for path in runs])


def print_table(table) -> None:
    """A rich table, as wide as it is."""
    from rich.console import Console

    Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 150).print(table)

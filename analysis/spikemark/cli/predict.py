"""`spikemark predict`: two questions under one name, told apart by --machine.

`other_schedule` asks how long the ranks of a run would wait under another schedule. `on_machine` asks how
long a run that was not made would take on a machine. `Predict` chooses, and its help explains both.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from spikemark.core.errors import BadInput

from . import completion
from .options import (
    AsJson,
    Assumptions,
    DelayRatio,
    Exchange,
    Full,
    Lag,
    Network,
    On,
    Placement,
    PresetName,
    PresetOptions,
    RanksPerNode,
    Rate,
    Schedule,
    Threads,
    Whose,
    any_machine,
    delay_ratio,
    exchanges,
    has_ending,
    machine_profile,
    network,
    profile_digest,
    ranks_by_part,
    whole_numbers,
)
from .output import print_based, print_json, print_lines, print_tables, warn


def other_schedule(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN_DIR…", help="Records of conventional runs of one setup on one machine or cluster."
        ),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            help="Required: conventional, placement_only, structure_aware, overlapped or hierarchical."
        ),
    ] = None,
    ratio: Annotated[
        int | None,
        typer.Option(
            "--delay-ratio",
            min=1,
            help="D: cycles between two exchanges of all ranks [the largest that the runs' delays allow].",
        ),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(help="Number of ranks, up to four times that of the runs [that of the runs]."),
    ] = None,
    lag: Annotated[
        int | None,
        typer.Option(
            min=1, help="L: how many windows an exchange may take; only with the schedule overlapped [1]."
        ),
    ] = None,
    group_period: Annotated[
        int | None,
        typer.Option(
            min=1, help="Cycles between two meetings of a group; only with the schedule hierarchical [D]."
        ),
    ] = None,
    cycles: Annotated[
        int | None, typer.Option(min=1, help="Cycles of the predicted run [as many as the runs have].")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print waiting and run time under another schedule by every predictor, with 95 % intervals."""
    from spikemark.records.imported import run_or_times
    from spikemark.waiting import PREDICTORS, allowed, show
    from spikemark.waiting.base_case import misses
    from spikemark.waiting.source import source

    network = next(filter(has_ending, runs or []), None)
    if network is not None:
        raise BadInput(f"machine: missing; needed for a network such as {network}: a name in machines/")
    if not runs or schedule is None:
        raise BadInput(f"{'schedule' if runs else 'RUN_DIR'}: missing; needed without --machine")
    count = None if ranks is None else _one(ranks)
    read = [run_or_times(path) for path in runs]
    fitted, chosen = source(read), allowed.delay_ratio(read[0], schedule, ratio, lag)
    models = {name: kind.fit(fitted) for name, kind in PREDICTORS.items()}
    made = {
        name: model.predict(schedule, chosen.ratio, count, lag, group_period, cycles)
        for name, model in models.items()
    }
    missed = misses(fitted, {name: model.predict("conventional") for name, model in models.items()})
    warn([*fitted.warnings, *chosen.warnings])
    if as_json:
        print_json(show.predicted_content(made, missed))
    else:
        print_tables(show.predicted(made, missed, fitted))
        print_lines(chosen.lines)


def on_machine(
    machine: Annotated[
        str, typer.Option(help="The machine, of one profile or of parts: a file in machines/, or a path.")
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NETWORK",
            help="A run description, or the name of a preset; as --run. Or the folder of a run, which is set"
            " beside its prediction.",
        ),
    ] = None,
    run: Network = None,
    preset: PresetName = None,
    full: Full = False,
    option: PresetOptions = None,
    rate: Rate = None,
    ranks: Annotated[
        str | None, typer.Option(help="Required for a network: numbers of ranks, such as 16,32.")
    ] = None,
    threads: Threads = None,
    ranks_per_node: RanksPerNode = None,
    on: On = None,
    schedule: Schedule = None,
    placement: Placement = None,
    ratio: DelayRatio = None,
    lag: Lag = None,
    exchange: Exchange = None,
    compute_from: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Take compute times from this dry run (`spikemark dryrun`), whose network, ranks and threads"
            " are then asked about.",
        ),
    ] = None,
    simulator: Whose = "mini-app",
    simulated: Annotated[
        bool,
        typer.Option("--simulated", help="The run will be simulated: leave out what only real ones have."),
    ] = False,
    assumptions: Assumptions = False,
    as_json: AsJson = False,
) -> None:
    """Print time, memory and energy of all phases on the machine, each with its interval and its kind."""
    from spikemark.prediction import asked, layout, model_error, show
    from spikemark.prediction.predict import predict
    from spikemark.prediction.simulators import find

    named, whose = [*(files or []), run], find(simulator)
    if compute_from is None and len(files or []) == 1 and Path(files[0]).is_dir():
        how = {"ranks": ranks, "threads": threads, "ranks-per-node": ranks_per_node, "schedule": schedule}
        how |= {"placement": placement, "delay-ratio": ratio, "lag": lag, "exchange": exchange, "rate": rate}
        how |= {"run": run, "preset": preset, "option": option, "full": full or None, "on": on}
        how |= {"simulator": None if whose is find("mini-app") else simulator}
        return _beside(Path(files[0]), machine, how, assumptions, as_json)
    wanted = delay_ratio(ratio), lag, exchanges(exchange)
    timed = None if compute_from is None else asked.compute_from(compute_from, whose)
    if timed is not None and preset is None and not any(named):
        found = asked.of_description(timed.title, timed.about.description, timed.about.rate_hz or rate)
    else:
        found = network(named, preset, full, option, rate)
    found = asked.taken_by(found, whose) if timed is None else asked.as_ran(found, timed.about.description)
    found = asked.run_as(found, schedule, *wanted, placement, whose)
    by_part = ranks_by_part(on)
    given = timed.ranks if timed is not None else sum(by_part.values()) if by_part else None
    if ranks is None and given is None:
        raise BadInput("ranks: missing; allowed: numbers of ranks, such as 16,32")
    counts = [given] if ranks is None else whole_numbers(ranks, "ranks")
    profile = any_machine(machine)
    profile = model_error.for_simulated(profile) if simulated else profile
    own = layout.threads_of(profile, ranks_per_node, by_part) if timed is None else timed.about.threads
    how = {"schedule": schedule, "placement": placement, "ranks_per_node": ranks_per_node, "on": by_part}
    how |= {"simulator": simulator, "compute_from": timed}
    made = [
        predict(found.description, profile, count, threads or own, hz=found.rates, **how) for count in counts
    ]
    made = [model_error.widened(one, simulated) for one in made]
    if as_json:
        content = {"simulator": whose.name, "network": found.title, "rates": found.rates.source}
        content |= {"kind": "modelled", "sources": found.sources}
        content |= {"description": found.description, "profile": profile_digest(machine)}
        content |= {"simulated": simulated}
        print_json({**content, "predictions": show.content(made)})
        return
    print_tables(*(table for part in show.tables(made) for table in part.turned(show.ABREAST)))
    said = [] if simulated or whose.runs else [model_error.SAID]
    print_based([*show.lines(made, found.sources), *said], assumptions)


def _beside(run_dir: Path, machine: str, given: dict[str, object], assumptions: bool, as_json: bool) -> None:
    """Print a run beside its prediction. Raises BadInput for options that the run answers."""
    from spikemark.prediction import beside, show
    from spikemark.records import dry_run, imported, record

    if useless := [name for name, value in given.items() if value is not None]:
        raise BadInput(f"--{useless[0]}: not for the folder of a run, which is predicted as it ran")
    if (run_dir / imported.ABOUT).is_file():
        raise BadInput(
            f"{run_dir}: imported cycle times; allowed with --machine: a network, or a run's folder"
        )
    if dry_run.is_dry_run(run_dir):
        raise BadInput(f"{run_dir}: a dry run, which has no waiting; allowed: --compute-from {run_dir}")
    found = beside.beside(record.load(run_dir), machine_profile(machine))
    if as_json:
        print_json(beside.content(found))
        return
    print_tables(beside.table(found))
    print_based(show.lines([found.prediction]), assumptions)


HELP = """Predict a run that has not been made.

Without --machine, the command reads records of conventional runs. It predicts how long ranks would wait for
each other under another schedule, D or number of ranks. Every predictor gives an answer (docs/waiting.md).

With --machine, the command reads the profile of a machine and the description of a network. It predicts how
long each phase would take there, and needs no run. With the folder of a run instead, it compares the run with
its prediction, which shows how well this machine is predicted (docs/prediction.md). With --compute-from,
computing is as a dry run measured it, and the rest is modelled (docs/dryrun.md)."""
USAGES = (
    "RUN_DIR… --schedule NAME [OPTIONS]",
    "NETWORK --machine NAME --ranks N,N [OPTIONS]",
    "RUN_DIR --machine NAME",
)
HEADS = "From a run", "On a machine"


class Predict(TyperCommand):
    """The command of `other_schedule`, which hands over to that of `on_machine` where --machine is given."""

    def make_context(self, info_name, args, parent=None, **extra):
        """Parse the arguments for the question that is asked; --help is about both."""
        if "--help" in args:
            return super().make_context(info_name, ["--help"], parent, **extra)
        given = [argument.split("=")[0] for argument in args]
        other = _command(on_machine)
        own_names, other_names = _names(self), _names(other)
        if "--machine" in given:
            _refuse(given, own_names - other_names, "only without --machine")
            return other.make_context(info_name, args, parent, **extra)
        _refuse(given, other_names - own_names, "only with --machine")
        return super().make_context(info_name, args, parent, **extra)

    def format_usage(self, ctx, formatter) -> None:
        """Write one line for each question."""
        for usage in USAGES:
            formatter.write_usage(ctx.command_path, usage)

    def format_options(self, ctx, formatter) -> None:
        """Write arguments and options of each question under its own head."""
        for head, command in zip(HEADS, (self, _command(on_machine)), strict=True):
            with formatter.section(head):
                shown = (parameter.get_help_record(ctx) for parameter in command.get_params(ctx))
                formatter.write_dl([record for record in shown if record])


def _command(function: Callable[..., None]) -> TyperCommand:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command("predict")(function)
    return completion.teach(typer.main.get_command(alone))


def _names(command: TyperCommand) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts if name.startswith("--")}


def _refuse(given: list[str], useless: set[str], why: str) -> None:
    found = next((name for name in given if name in useless), None)
    if found:
        raise BadInput(f"{found}: {why}")


def _one(ranks: str) -> int:
    numbers = whole_numbers(ranks, "ranks")
    if len(numbers) > 1:
        raise BadInput(f"ranks={ranks!r}: allowed without --machine: one number")
    return numbers[0]

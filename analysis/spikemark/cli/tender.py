"""`spikemark tender`: rules for bidders, their answers, and what they commit themselves to."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .groups import Groups
from .options import Full, PresetOptions, RanksPerNode, Rate, Settings, Threads, Where, machine_profile
from .output import fail, print_lines, say, short
from .tender_accept import accept
from .tender_offers import offers
from .tender_statistics import statistics

app = typer.Typer(
    cls=Groups,
    help="Write rules for bidders, answer them, check and compare answers.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Bundle = Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder that `spikemark tender new` wrote.")]
Answer = Annotated[Path, typer.Argument(metavar="ANSWER", help="Folder that `spikemark tender run` wrote.")]
Above0 = typer.Option(min=1e-12)


@app.callback()
def _several() -> None:
    """Makes the command line require the name of a command."""


@app.command("new")
def new(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the bundle, which must be new.")],
    target: Annotated[
        str | None,
        typer.Option(
            metavar="NETWORK",
            help="The network that the machine is for: a run description, or the name of a preset.",
            show_default="mam-benchmark at its published size",
        ),
    ] = None,
    full: Full = False,
    option: PresetOptions = None,
    rate: Rate = None,
    target_rtf: Annotated[
        float | None, typer.Option(help="Real-time factor that the machine must reach for this network.")
    ] = None,
    target_energy: Annotated[
        float | None, typer.Option(metavar="J", help="Energy per synaptic event that it must not exceed.")
    ] = None,
    node_memory: Annotated[
        float | None,
        typer.Option(
            metavar="GB",
            help="Memory of the node for which the bench networks are sized.",
            show_default="256",
        ),
    ] = None,
    areas: Annotated[
        int | None, typer.Option(min=1, help="Areas of the bench networks.", show_default="8")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Repetitions of every run.", show_default="5")
    ] = None,
    minimum: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Shortest repetition.", show_default="60")
    ] = None,
    power: Annotated[bool, typer.Option("--power", help="Require that energy is measured.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small bundle that tries the procedure in about two minutes.")
    ] = False,
    commit: Annotated[
        str | None, typer.Option(help="Commit whose sources are frozen.", show_default="what is checked out")
    ] = None,
) -> None:
    """Write a bundle to hand to bidders: rules, runs, frozen sources, and a program that checks answers."""
    from spikemark.core import places
    from spikemark.prediction import asked
    from spikemark.tender import wanted
    from spikemark.tender.new import new

    from .options import is_file

    given = {
        "node_memory_gb": node_memory, "areas": areas, "repetitions": repetitions, "minimum_s": minimum,
        "real_time_factor": target_rtf, "joules_per_synaptic_event": target_energy,
    }  # fmt: skip
    if target is not None and is_file(target):
        if full or option:
            raise BadInput(f"--{'full' if full else 'option'}: only with a preset")
        network = asked.of_file(Path(target), rate)
    else:
        network = wanted.preset(target, full, option, rate, quick)
    made = new(name, wanted.wanted(name.name, network, given, power, quick, commit), places.root())
    print_lines(
        [f"{short(made.path)}: {len(made.tender.runs)} runs, rules in RULES.md", f"sha256 {made.sha256}"]
    )


@app.command("run")
def run(
    bundle: Bundle,
    out: Annotated[Path, typer.Option(metavar="ANSWER", help="Folder of the answer.")] = Path("answer"),
    category: Annotated[
        str, typer.Option(help="base (unchanged) or optimised; RULES.md says more.")
    ] = "base",
    bidder: Annotated[str, typer.Option(help="Name of the bidder.")] = "unnamed",
    only: Annotated[
        list[str] | None, typer.Option("--run", metavar="NAME", help="Only this run; may be repeated.")
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(min=1, help="MPI ranks.", show_default="one for each area, if there are cores"),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of a rank.", show_default="all cores, shared")
    ] = None,
    ranks_per_node: RanksPerNode = None,
    settings: Settings = None,
    power: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Readings of an external power meter (docs/energy.md)."),
    ] = None,
    at_wall: Annotated[
        float | None, typer.Option(metavar="PERCENT", help="Accuracy of that meter, if it reads whole nodes.")
    ] = None,
    profile: Where = "here",
) -> None:
    """Measure the runs of a bundle, and collect the answer. If interrupted, run it again.

    Measurements are in ANSWER-work. With --run, layout and settings apply to these runs; the others keep
    theirs.
    """
    from spikemark.running import ways
    from spikemark.tender import answering, show
    from spikemark.tender.bundle import CHECK, read

    from .options import given_settings

    rules = read(bundle)
    meter = None if power is None else {"path": power, "at_wall_percent": at_wall}
    if power is not None and not power.is_file():
        raise BadInput(f"--power: {power} is not a file; allowed: a CSV file of time and power")
    chosen = None if settings is None else given_settings(settings)
    asked = answering.Asked(category, bidder, only, ranks, threads, ranks_per_node, chosen, meter)
    try:
        found = answering.measure_and_collect(rules, asked, out, ways.find(profile), say)
    except answering.NotMeasured as reason:
        fail(f"{reason}; the same command tries again")
    if found is None:
        raise typer.Exit(1)
    print_lines(show.answer(found))
    print_lines([f"answer: {short(out)}", f"check it: python3 {short(rules.path / CHECK)} {short(out)}"])


@app.command("commit")
def commit(
    bundle: Bundle,
    answer: Answer,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes of the machine that is offered.")],
    price: Annotated[float, typer.Option(help="Price of the machine.")],
    currency: Annotated[str, typer.Option(help="Currency of the price.")] = "EUR",
    system: Annotated[
        str | None,
        typer.Option(help="Description of the offered machine.", show_default="title of the profile"),
    ] = None,
    node_power: Annotated[float | None, typer.Option(metavar="W", help="Largest power of a node.")] = None,
    node_idle: Annotated[float | None, typer.Option(metavar="W", help="Idle power of a node.")] = None,
    project: Annotated[
        str | None,
        typer.Option("--run", metavar="NAME", help="The run that is projected.", show_default="target"),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(help="Project with the profile of this machine: a file in machines/, or a path."),
    ] = None,
    ranks: Annotated[int | None, typer.Option(min=1, help="Ranks of the projected run.")] = None,
    threads: Threads = None,
    ranks_per_node: RanksPerNode = None,
    settings: Settings = None,
    dry_run: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Take compute times from this dry run of the run (`spikemark dryrun`)."
        ),
    ] = None,
    simulated: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN_DIR", help="Project from this run of `spikemark simulate`; may be repeated."
        ),
    ] = None,
    promise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN.FIGURE=VALUE",
            help="Promise this value instead of the measured or projected one; may be repeated.",
        ),
    ] = None,
) -> None:
    """Write the commitment sheet: measured figures, projected figures, promises, price, nodes and power.

    Projects the target with --machine, and with --dry-run if one is given, or with --simulated. The sheet is
    written into ANSWER, and its manifest is rewritten; sign it afterwards.
    """
    from spikemark.tender import answering, commitment, projection, show
    from spikemark.tender.answer import read_whole
    from spikemark.tender.bundle import read

    from .options import given_settings

    rules, content = read(bundle), read_whole(answer)
    given = given_settings(settings or [])
    answering.check_set(rules, content["category"], given)
    of_run = {"run": project, "ranks": ranks, "threads": threads, "ranks-per-node": ranks_per_node}
    of_run |= {"set": settings, "dry-run": dry_run}
    if machine is None and (useless := [name for name, value in of_run.items() if value and not simulated]):
        raise BadInput(f"--{useless[0]}: only with --machine")
    if machine is not None and simulated:
        raise BadInput("--machine: not allowed with --simulated RUN_DIR: give one of them")
    projected, profile = None, None if machine is None else machine_profile(machine)
    if profile is not None or simulated:
        asked = projection.Question(
            profile,
            ranks,
            threads,
            ranks_per_node,
            given,
            dry_run,
            tuple(simulated or ()),
            tuple(content["runs"]),
        )
        [rule] = rules.rules([project or "target"])
        projected = projection.project(rules, rule, asked)
        if projected.nodes > nodes:
            raise BadInput(f"--nodes: {nodes}; {rule.name} takes {projected.nodes}; allowed: at least that")
    words = system or (profile and getattr(profile, "title", profile.name))
    if words is None:
        raise BadInput("--system: missing; allowed: what is offered, in words")
    promised = commitment.promises(promise or [])
    offer = commitment.Offer(str(words), nodes, price, currency, promised, node_power, node_idle)
    found = commitment.commit(answer, rules, offer, projected)
    print_lines([*show.commitment(found), f"sheet: {short(answer / commitment.PAGE)}"])


app.command("accept")(accept)


@app.command("environment", hidden=True)
def environment(out: Annotated[Path, typer.Option(help="Folder of the files of all nodes.")]) -> None:
    """Write a description of this node. `tender run` starts this on every node."""
    from spikemark.tender import answering

    say(str(answering.write_node(out)))


app.command("offers")(offers)
app.command("statistics")(statistics)

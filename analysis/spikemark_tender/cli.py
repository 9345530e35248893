"""`spikemark tender`: rules for bidders, their answers and promises, and how a buyer checks these.

Each command reads its options, calls one function of this package, and shows the answer. What a
function needs is imported when its command runs, so that the others start quickly.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from spikemark.cli import options, output, panels, params
from spikemark.cli.groups import Groups
from spikemark.core import commands, places
from spikemark.core.errors import BadInput

if TYPE_CHECKING:
    from spikemark.prediction.question import Question

    from .formats import Bundle
    from .schema import Commitment, TenderAnswer

NOT_MEASURED = "{}; the same command tries again"
MAX_FINDINGS_SHOWN = 12

tender = typer.Typer(
    cls=Groups,
    help="Buy a machine by tender: write rules, answer them, check and compare answers.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Adds the group `tender` to the command line."""
    app.add_typer(tender, name="tender", rich_help_panel=panels.RUN)


# Arguments and options of several of these commands

BundleFolder = Annotated[
    Path, typer.Argument(metavar="BUNDLE", help="Folder that `spikemark tender new` wrote.")
]
OwnBundle = Annotated[
    Path, typer.Option("--bundle", metavar="BUNDLE", help="The buyer's own bundle.")
]
Work = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the measurements.")]
RanksByArea = Annotated[
    int | None,
    typer.Option(min=1, help="MPI ranks [one for each area, if there are cores]."),
]
SharedThreads = Annotated[
    int | None, typer.Option(min=1, help="Threads of a rank [all cores, shared].")
]


@tender.command()
def new(
    name: Annotated[
        Path, typer.Argument(metavar="NAME", help="Folder of the bundle, which must be new.")
    ],
    target: Annotated[
        str | None,
        typer.Option(
            metavar="NETWORK",
            help=(
                "The network that the machine is for: a run description, or the name of a preset"
                " [mam-benchmark at its published size]."
            ),
            autocompletion=params.preset_names,
        ),
    ] = None,
    full: params.Full = False,
    option: params.PresetOptions = None,
    rate: params.Rate = None,
    target_rtf: Annotated[
        float | None,
        typer.Option(metavar="FACTOR", help="Real-time factor that must be reached."),
    ] = None,
    target_energy: Annotated[
        float | None,
        typer.Option(metavar="J", help="Energy per synaptic event that must not be exceeded."),
    ] = None,
    node_memory: Annotated[
        float | None,
        typer.Option(metavar="GB", help="Memory of the node for the bench networks [256]."),
    ] = None,
    areas: Annotated[
        int | None, typer.Option(min=1, help="Areas of the bench networks [8].")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Repetitions of every run [5].")
    ] = None,
    minimum: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Shortest repetition [60].")
    ] = None,
    power: Annotated[
        bool, typer.Option("--power", help="Require that energy is measured.")
    ] = False,
    nest: Annotated[
        bool, typer.Option("--nest", help="Require runs of NEST beside those of the mini-app.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small bundle to try the procedure.")
    ] = False,
    commit: Annotated[
        str | None,
        typer.Option(help="Commit of the sources to freeze [what is checked out]."),
    ] = None,
    json: params.Json = False,
) -> None:
    """Write a bundle for bidders: rules, runs and frozen sources.

    The secret seed goes to NAME.secret.json.
    """

    from .new import QUICK, USUAL, TenderRequest
    from .new import new as write_bundle

    stated = {
        "node_memory_gb": node_memory,
        "areas": areas,
        "repetitions": repetitions,
        "minimum_s": minimum,
        "real_time_factor": target_rtf,
        "joules_per_synaptic_event": target_energy,
    }
    values: dict[str, Any] = dict(QUICK if quick else USUAL)
    values |= {field: value for field, value in stated.items() if value is not None}
    network = _target(target, full, option, rate, quick)
    request = TenderRequest(
        name=name.name, target=network, power=power, nest=nest, quick=quick, **values
    )
    bundle, secret_file = write_bundle(name, request, places.checkout(), commit)
    folder = places.short(bundle.path)
    secret = places.short(secret_file)
    prepare = commands.command("tender", "accept", folder, secret, "--prepare")
    runs = [rule.name for rule in bundle.tender.runs]
    output.answer(
        "tender new",
        json,
        lambda: {
            "bundle": str(folder),
            "secret": str(secret),
            "sha256": bundle.sha256,
            "runs": runs,
        },
        [
            f"{folder}: {len(runs)} runs, sha256 {bundle.sha256}",
            f"keep to yourself: {secret}",
            f"next: {prepare}",
        ],
    )


def _target(
    name: str | None, full: bool, option: list[str] | None, rate: float | None, quick: bool
) -> "Question":
    """The network that the machine is for, from a file or a preset."""
    from spikemark.prediction import question

    from .new import target

    if name is None or not options.is_file(name):
        return target(name, full, option, rate, quick)
    options.only_with("a preset", None, full=full, option=option)
    return question.of_file(Path(name), rate)


@tender.command()
def run(
    bundle: BundleFolder,
    work: Work = Path("tender-work"),
    category: Annotated[
        Literal["base", "optimised"],
        typer.Option(help="base (unchanged) or optimised (RULES.md)."),
    ] = "base",
    run: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure only this run; may be repeated."),
    ] = None,
    ranks: RanksByArea = None,
    threads: SharedThreads = None,
    ranks_per_node: params.RanksPerNode = None,
    set_: params.Settings = None,
    json: params.Json = False,
) -> None:
    """Measure the runs of a bundle, here or in an allocation. If interrupted, run it again.

    Layout and settings apply to the runs that --run names; the others keep theirs.
    """
    from .formats import read_bundle
    from .measure import NotMeasured, TenderRunOptions, measure

    settings = None if set_ is None else options.settings(set_)
    run_options = TenderRunOptions(ranks, threads, ranks_per_node, settings)
    with output.ending(NotMeasured, words=NOT_MEASURED):
        missing = measure(read_bundle(bundle), category, run, run_options, work, output.say)
    if missing:
        output.fail(f"not measured yet: {', '.join(missing)}")
    folder = places.short(bundle)
    following = commands.command("tender", "answer", folder, "--help", work=places.short(work))
    about = {"bundle": str(folder), "work": str(places.short(work)), "category": category}
    output.answer("tender run", json, lambda: about, [f"next: {following}"])


@tender.command()
def answer(
    bundle: BundleFolder,
    bidder: Annotated[str, typer.Option(help="Name of the bidder.")],
    system: Annotated[str, typer.Option(help="The offered machine, in words.")],
    nodes: Annotated[int, typer.Option(min=1, help="Nodes of the offered machine.")],
    work: Work = Path("tender-work"),
    out: Annotated[Path, typer.Option(metavar="ANSWER", help="Folder of the answer.")] = Path(
        "answer"
    ),
    price: Annotated[float | None, typer.Option(help="Price of the machine.")] = None,
    currency: Annotated[str, typer.Option(help="Currency of the price: three letters.")] = "EUR",
    node_power: Annotated[
        float | None, typer.Option(metavar="W", help="Largest power of a node.")
    ] = None,
    node_idle: Annotated[
        float | None, typer.Option(metavar="W", help="Idle power of a node.")
    ] = None,
    power: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Readings of an external power meter."),
    ] = None,
    at_wall: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Accuracy of that meter, if it reads whole nodes."),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            help="Project the target with this profile: a file in machines/, or a path.",
            autocompletion=params.machine_names,
            callback=params.known_machine,
        ),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(min=1, help="Ranks of the projected run, spread over the offered nodes."),
    ] = None,
    threads: SharedThreads = None,
    ranks_per_node: params.RanksPerNode = None,
    set_: params.Settings = None,
    projected: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN.FIGURE=VALUE:LOW:HIGH",
            help="A projection of your own; may be repeated.",
        ),
    ] = None,
    projected_nodes: Annotated[
        int | None, typer.Option(min=1, help="Nodes of that projected run [--nodes].")
    ] = None,
    method: Annotated[str | None, typer.Option(help="How that projection was made.")] = None,
    nest: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Runs of NEST, as `spikemark anchor --out` began."),
    ] = None,
    promise: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN.FIGURE=VALUE", help="Promise this instead of the evidence."),
    ] = None,
    json: params.Json = False,
) -> None:
    """Collect measured runs, projections and promises in one folder, ready to be signed."""
    from spikemark.machines import file_of

    from .answer import ExternalMeter, promised, stated, write
    from .formats import read_bundle
    from .measure import read_choices

    rules = read_bundle(bundle)
    if power is not None and not power.is_file():
        raise BadInput(field="power", value=str(power), expected="a CSV file of time and power")
    projections = [stated(text, projected_nodes or nodes, method) for text in projected or []]
    profile = None
    if machine is not None:
        settings = options.settings(set_)
        category = read_choices(work)["category"]
        projections += _projected_by_profile(
            rules, machine, nodes, (ranks, threads, ranks_per_node), settings, category
        )
        profile = file_of(machine)
    offer = {
        "machine": system,
        "nodes": nodes,
        "price": price,
        "currency": currency,
        "node_limit_w": node_power,
        "node_idle_w": node_idle,
    }
    tender_answer = write(
        rules,
        work,
        out,
        bidder,
        offer,
        promised=promised(promise or []),
        projected=projections,
        meter=None if power is None else ExternalMeter(power, at_wall),
        profile=profile,
        nest_runs=nest,
    )
    check = commands.command("tender", "check", places.short(out), bundle=places.short(bundle))
    lines = [
        _commitment_in_words(commitment, tender_answer) for commitment in tender_answer.committed
    ]
    if tender_answer.quick:
        lines.insert(0, "A try with a quick bundle: no offer.")
    about = {"answer": str(places.short(out)), "content": tender_answer.model_dump(mode="json")}
    output.answer("tender answer", json, lambda: about, [*lines, f"next: {check}"])


def _projected_by_profile(
    bundle: "Bundle",
    machine: str,
    nodes: int,
    layout: tuple[int | None, int | None, int | None],
    settings: dict[str, Any],
    category: str,
) -> list[dict[str, Any]]:
    """Projections of the target by a machine profile; without threads, all cores are shared.

    `layout`: ranks, threads and ranks per node, as far as they are given.
    """
    from .answer import project

    ranks, threads, ranks_per_node = layout
    profile = options.machine_profile(machine)
    if ranks is None:
        expected = "the ranks of the projected run"
        raise BadInput(field="--ranks", reason="missing", expected=expected, code="missing")
    cores = round(profile.need("node.cores", "placing ranks").value)
    if ranks > nodes * cores:
        expected = f"at most {nodes * cores}, a core of {nodes} nodes for each"
        raise BadInput(field="--ranks", value=ranks, expected=expected, code="range")
    if threads is None:
        ranks_per_node = ranks_per_node or -(-ranks // nodes)
        threads = max(1, cores // ranks_per_node)
    placed = (ranks, threads, ranks_per_node)
    return project(bundle, bundle.tender.target_rule, profile, placed, settings, category)


def _commitment_in_words(commitment: "Commitment", answer: "TenderAnswer") -> str:
    """What is promised, and the measured or projected figure beside it where that is another."""
    from .formats import FIGURES

    figure = FIGURES[commitment.figure]
    value = f"{commitment.value:.4g} {figure.unit}".rstrip()
    line = f"{commitment.run}: {figure.heading} {value}"
    evidence = answer.evidence(commitment.run, commitment.figure)
    if evidence.figure is None or evidence.figure.value == commitment.value:
        return f"{line}, {commitment.basis}"
    known = f"{evidence.figure.value:.4g} {figure.unit}".rstrip()
    return f"{line}, promised; {known}, {commitment.basis}"


@tender.command()
def check(
    answer: Annotated[Path, typer.Argument(metavar="ANSWER", help="Folder of an answer.")],
    bundle: OwnBundle,
    json: params.Json = False,
) -> None:
    """Check whether an answer follows the rules and agrees with itself.

    Exits with 0 if VALID, else 1.
    """
    from .check import VALID
    from .check import check as check_answer
    from .formats import read_bundle

    report, tender_answer = check_answer(answer, read_bundle(bundle))
    verdict = report.verdict
    if tender_answer is not None:
        verdict += f": {tender_answer.bidder}, category {tender_answer.category}"
    lines = [f"{finding.check}: {finding.text}" for finding in report.findings]
    lines += [f"remark: {text}" for text in report.remarks]
    shown = lines[:MAX_FINDINGS_SHOWN]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown)} more (--json)")
    output.answer("tender check", json, report.content, [verdict, *shown])
    raise typer.Exit(0 if report.verdict == VALID else 1)


@tender.command()
def offers(
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWER...", help="Folders of answers, or a folder of them."),
    ],
    bundle: OwnBundle,
    target_rtf: Annotated[
        float | None,
        typer.Option(metavar="FACTOR", help="Factor to reach [as in the bundle]."),
    ] = None,
    years: params.Years = 5.0,
    hours_per_year: params.HoursPerYear = 8000.0,
    price_kwh: Annotated[
        float | None,
        typer.Option(metavar="AMOUNT", help="Price of one kWh, in the currency of the offers."),
    ] = None,
    html: params.Html = None,
    json: params.Json = False,
) -> None:
    """Check answers and compare them: how often each reaches the target at the least cost.

    The cost is that over the life of the machine: its price and, with --price-kwh, its energy.

    Example: spikemark tender offers answers --bundle machine-2027 --price-kwh 0.3
    """
    from . import offers, page
    from .formats import read_bundle

    rules = read_bundle(bundle)
    with output.bar("checking answers"):
        compared = offers.compare(answers, rules, target_rtf, years, hours_per_year, price_kwh)
    if html is not None:
        page.write(
            html,
            compared,
            rules.tender.name,
            output.command_line(),
            page.network_in_words(rules.tender),
            page.cost_in_words(years, hours_per_year, price_kwh),
        )
    output.answer(
        "tender offers",
        json,
        lambda: offers.content(compared),
        [offers.sentence(compared)],
        [offers.table(compared)],
        offers.lines(compared),
    )


@tender.command()
def accept(
    bundle: BundleFolder,
    secret: Annotated[
        Path, typer.Argument(metavar="SECRET", help="NAME.secret.json of `tender new`.")
    ],
    prepare: Annotated[
        bool,
        typer.Option(
            "--prepare", help="Run the network here and keep its checksum, before delivery."
        ),
    ] = False,
    answer: Annotated[
        Path | None,
        typer.Option(
            metavar="ANSWER", help="Run as this answer did, and compare with its promise."
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(min=0, max=10, help="Share by which the machine may be slower than promised."),
    ] = 0.05,
    run: Annotated[
        str | None,
        typer.Option(help="Run of the bundle, with --prepare [the smallest]."),
    ] = None,
    ranks: RanksByArea = None,
    threads: SharedThreads = None,
    ranks_per_node: params.RanksPerNode = None,
    work: Work = Path("acceptance"),
    json: params.Json = False,
) -> None:
    """Run a network that only the buyer knows; compare its spikes and time with the promise.

    First run it with --prepare, on any machine; then without, on the delivered machine. The exit
    status is 0 if accepted, else 1.
    """
    from . import acceptance
    from .formats import read_answer, read_bundle
    from .measure import NotMeasured, TenderRunOptions

    options.only_with("--prepare", prepare, run=run)
    options.only_with("the delivered machine, without --prepare", not prepare, answer=answer)
    rules = read_bundle(bundle)
    layout = TenderRunOptions(ranks, threads, ranks_per_node)
    with output.ending(NotMeasured, words=NOT_MEASURED):
        if prepare:
            prepared = acceptance.prepare(rules, secret, run, layout, work, output.say)
            kept_in = places.short(secret)
            line = f"{prepared.run}: checksum {prepared.checksum}, kept in {kept_in}"
            about = {"run": prepared.run, "checksum": prepared.checksum, "accepted": None}
            return output.answer("tender accept", json, lambda: about, [line])
        promise = None if answer is None else read_answer(answer)
        result = acceptance.accept(rules, secret, promise, layout, work, tolerance, output.say)
    remarks = [f"remark: {text}" for text in result["remarks"]]
    sentences = [_acceptance_in_words(result), *result["reasons"], *remarks]
    output.answer("tender accept", json, lambda: result, sentences)
    raise typer.Exit(0 if result["accepted"] else 1)


def _acceptance_in_words(result: dict[str, Any]) -> str:
    """The line of an acceptance run: the verdict, and the real-time factor beside the promise."""
    verdict = "ACCEPTED" if result["accepted"] else "NOT ACCEPTED"
    figure = result["figure"]
    factor = f"{figure['value']:.4g} ({figure['low']:.4g} to {figure['high']:.4g})"
    line = f"{verdict}: {result['run']}, real-time factor {factor}"
    if result["promised"]:
        line += f", promised {result['promised']:.4g}"
    return line


@tender.command(hidden=True)
def environment(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the files of all nodes.")],
) -> None:
    """Write a description of this node. `tender run` starts this on every node."""
    from .environment import write_node

    output.say(str(write_node(out)))


@tender.command()
def statistics(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUNS...", help="Answers, results folders, or folders of repeated runs."
        ),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(help="Spread from run to run, instead of runs: 0.02 is 2 %."),
    ] = None,
    shortfall: Annotated[
        float, typer.Option(help="Shortfall of a machine that must be detected.")
    ] = 0.05,
    json: params.Json = False,
) -> None:
    """Compute how often acceptance runs fail a good machine and pass a bad one.

    The spread from run to run comes from repetitions, or from --spread. Prints both risks
    by runs and tolerance, and which of these keep both small.

    Example: spikemark tender statistics answers/acme --shortfall 0.05
    """
    from . import statistics

    if bool(runs) == (spread is not None):
        raise BadInput(
            "runs: expected either folders of RUNS or --spread", field="runs", code="conflict"
        )
    if not 0 < shortfall <= 10:
        expected = "above 0, up to 10 (0.05 is 5 %)"
        raise BadInput(field="shortfall", value=shortfall, expected=expected, code="range")
    if spread is None:
        variation = statistics.measured(runs or [])
    else:
        variation = statistics.VariationOfRuns(spread)
    output.answer(
        "tender statistics",
        json,
        lambda: statistics.content(variation, shortfall),
        statistics.sentences(variation, shortfall),
        [statistics.table(variation, shortfall)],
    )

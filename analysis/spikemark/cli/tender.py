"""`spikemark tender`: rules for bidders, their answers and commitments, and how a buyer checks these."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import typer

from spikemark.core.errors import BadInput

from .groups import Groups
from .kinds import Count, File, Files, Number, Positive, Preset, Profile, Text, Texts, number
from .options import is_file, machine_profile, only_with, settings, verb
from .output import answer as show
from .output import bar, ending, fail, print_lines, say, short

AGAIN = "{}; the same command tries again"

app = typer.Typer(
    cls=Groups,
    help="Buy a machine by tender: write rules, answer them, check and compare answers.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


def command(function: Callable, **how: Any) -> Callable:
    """Makes a function a command of the group."""
    return app.command(**how)(verb(function))


@command
def new(
    name: Path, *, target: Preset, full, option, rate, target_rtf, target_energy: Number,
    node_memory: Number, areas: Count, repetitions: number(1, 1000),
    minimum: Number, power: bool = False, quick: bool = False, commit: Text,
) -> None:  # fmt: skip
    """Write a bundle for bidders: rules, runs and frozen sources. The secret seed goes to NAME.secret.json.

    NAME: Folder of the bundle, which must be new.
    --target NETWORK: The network that the machine is for: a run description, or the name of a preset
        [mam-benchmark at its published size].
    --target-rtf FACTOR: Real-time factor that must be reached.
    --target-energy J: Energy per synaptic event that must not be exceeded.
    --node-memory GB: Memory of the node for the bench networks [256].
    --areas: Areas of the bench networks [8].
    --repetitions: Repetitions of every run [5].
    --minimum SECONDS: Shortest repetition [60].
    --power: Require that energy is measured.
    --quick: A small bundle to try the procedure.
    --commit: Commit of the sources to freeze [what is checked out].
    """
    from spikemark.core import places
    from spikemark.prediction import question
    from spikemark.tender import new

    given = {"node_memory_gb": node_memory, "areas": areas, "repetitions": repetitions, "minimum_s": minimum,
             "real_time_factor": target_rtf, "joules_per_synaptic_event": target_energy}  # fmt: skip
    values = (new.QUICK if quick else new.USUAL) | {k: v for k, v in given.items() if v is not None}
    if target is not None and is_file(target):
        only_with("a preset", None, full=full, option=option)
        network = question.of_file(Path(target), rate)
    else:
        network = new.target(target, full, option, rate, quick)
    wanted = new.Wanted(name=name.name, target=network, power=power, quick=quick, **values)
    made, secret = new.new(name, wanted, places.checkout(), commit)
    print_lines([
        f"{short(made.path)}: {len(made.tender.runs)} runs, sha256 {made.sha256}",
        f"keep to yourself: {short(secret)}",
        f"next: spikemark tender accept {short(made.path)} {short(secret)} --prepare",
    ])  # fmt: skip


@command
def run(
    bundle: Path, *, work: Path = Path("tender-work"), category: Literal["base", "optimised"] = "base",
    run: Texts, ranks: Count, threads, ranks_per_node, set,
) -> None:  # fmt: skip
    """Measure the runs of a bundle, here or in an allocation. If interrupted, run it again.

    Layout and settings apply to the runs that --run names; the others keep theirs.

    BUNDLE: Folder that `spikemark tender new` wrote.
    --work FOLDER: Folder of the measurements.
    --category: base (unchanged) or optimised (RULES.md).
    --run NAME: Measure only this run; may be repeated.
    --ranks: MPI ranks [one for each area, if there are cores].
    --threads: Threads of a rank [all cores, shared].
    """
    from spikemark.tender.formats import read_bundle
    from spikemark.tender.measure import Given, NotMeasured, measure

    given = Given(ranks, threads, ranks_per_node, None if set is None else settings(set))
    with ending(NotMeasured, words=AGAIN):
        missing = measure(read_bundle(bundle), category, run, given, work, say)
    if missing:
        fail(f"not measured yet: {', '.join(missing)}")
    print_lines([f"next: spikemark tender answer {short(bundle)} --work {short(work)} --help"])


@command
def answer(
    bundle: Path, *, bidder: str, system: str, nodes: Positive,
    work: Path = Path("tender-work"), out: Path = Path("answer"), price: Number, currency: str = "EUR",
    node_power: Number, node_idle: Number, power: File, at_wall: Number, machine: Profile, ranks: Count,
    threads, ranks_per_node, set, projected: Texts, projected_nodes: Count, method: Text, promise: Texts,
) -> None:  # fmt: skip
    """Collect measured runs, projections and promises in one folder, ready to be signed and sent.

    BUNDLE: Folder that `spikemark tender new` wrote.
    --bidder: Name of the bidder.
    --system: The offered machine, in words.
    --nodes: Nodes of the offered machine.
    --work FOLDER: Folder of the measurements.
    --out ANSWER: Folder of the answer.
    --price: Price of the machine.
    --currency: Currency of the price.
    --node-power W: Largest power of a node.
    --node-idle W: Idle power of a node.
    --power FILE.csv: Readings of an external power meter.
    --at-wall PERCENT: Accuracy of that meter, if it reads whole nodes.
    --machine: Project the target with this profile: a file in machines/, or a path.
    --ranks: Ranks of the projected run.
    --threads: Threads of a rank [all cores, shared].
    --projected RUN.FIGURE=VALUE:LOW:HIGH: A projection of your own; may be repeated.
    --projected-nodes: Nodes of that projected run [--nodes].
    --method: How that projection was made.
    --promise RUN.FIGURE=VALUE: Promise this instead of the evidence.
    """
    from spikemark.tender import answer
    from spikemark.tender.formats import FIGURES, read_bundle

    rules = read_bundle(bundle)
    if power is not None and not power.is_file():
        raise BadInput.of("power", str(power), "a CSV file of time and power")
    made = [answer.stated(text, projected_nodes or nodes, method) for text in projected or []]
    if machine is not None:
        profile = machine_profile(machine)
        if ranks is None:
            raise BadInput("--ranks: missing; expected the ranks of the projected run")
        if threads is None:
            cores = round(profile.need("node.cores", "placing ranks").value)
            threads = max(1, cores // (ranks_per_node or 1))
        how = ranks, threads, ranks_per_node
        made += answer.project(rules, rules.tender.target_rule, profile, how, settings(set))
    offer = {"machine": system, "nodes": nodes, "price": price, "currency": currency,
             "node_limit_w": node_power, "node_idle_w": node_idle}  # fmt: skip
    meter = None if power is None else {"path": power, "at_wall_percent": at_wall}
    given = {"promised": answer.promised(promise or []), "projected": made, "meter": meter}
    found = answer.write(rules, work, out, bidder, offer, **given)
    print_lines([
        *["A try with a quick bundle: no offer."] * found.quick,
        *(f"{p.run}: {FIGURES[p.figure][0]} {p.value:.4g} {FIGURES[p.figure][1]}".rstrip() + f", {p.basis}"
          for p in found.committed),
        f"next: spikemark tender check {short(out)} --bundle {short(bundle)}",
    ])  # fmt: skip


@command
def check(answer: Path, *, bundle: Path, json) -> None:
    """Check whether an answer follows the rules and agrees with itself. Exits with 0 if VALID, else 1.

    ANSWER: Folder of an answer.
    --bundle BUNDLE: The buyer's own bundle.
    """
    from spikemark.tender.check import VALID
    from spikemark.tender.check import check as checking
    from spikemark.tender.formats import read_bundle

    report, found = checking(answer, read_bundle(bundle))
    content = report.content()
    who = "" if found is None else f": {found.bidder}, category {found.category}"
    lines = [f"{one['check']}: {one['text']}" for one in content["findings"]]
    more = [f"and {len(lines) - 12} more (--json)"] if len(lines) > 12 else []
    show(json, lambda: content, [f"{report.verdict}{who}", *lines[:12], *more])
    raise typer.Exit(0 if report.verdict == VALID else 1)


@command
def offers(
    answers: list[Path], *, bundle: Path, target_rtf, years, hours_per_year, price_kwh, html, json
) -> None:
    """Check answers and compare them: how often each reaches the target at the least cost over its life.

    Example: spikemark tender offers answers --bundle machine-2027 --price-kwh 0.3

    ANSWER…: Folders of answers, or a folder of them.
    --bundle BUNDLE: The buyer's own bundle.
    --target-rtf FACTOR: Factor to reach [as in the bundle].
    --price-kwh AMOUNT: Price of one kWh, in the currency of the offers.
    """
    from spikemark.tender import offers, page
    from spikemark.tender.formats import read_bundle

    rules = read_bundle(bundle)
    with bar("checking answers"):
        of = offers.compare(answers, rules, target_rtf, years, hours_per_year, price_kwh)
    if html is not None:
        page.write(html, of, rules.tender.name)
    show(json, lambda: offers.content(of), [offers.sentence(of)], [offers.table(of)], offers.lines(of))


@command
def accept(
    bundle: Path, secret: Path, *, prepare: bool = False, answer: File,
    tolerance: number(0, 10, float) = 0.05, run: Text, ranks: Count, threads,
    ranks_per_node, work: Path = Path("acceptance"),
) -> None:  # fmt: skip
    """Run a network that only the buyer knows; compare its spikes and time with the promise.

    First run it with --prepare, on any machine; then without, on the delivered machine. The exit status is 0
    if accepted, else 1.

    BUNDLE: Folder that `spikemark tender new` wrote.
    SECRET: NAME.secret.json of `tender new`.
    --prepare: Run the network here and keep its checksum, before delivery.
    --answer ANSWER: Run as this answer did, and compare with its promise.
    --tolerance: Share by which the machine may be slower than promised.
    --run: Run of the bundle, with --prepare [the smallest].
    --ranks: MPI ranks [one for each area, if there are cores].
    --threads: Threads of a rank [all cores, shared].
    --work FOLDER: Folder of the measurements.
    """
    from spikemark.tender import acceptance
    from spikemark.tender.formats import read_answer, read_bundle
    from spikemark.tender.measure import Given, NotMeasured

    only_with("--prepare", prepare, run=run)
    only_with("the delivered machine, without --prepare", not prepare, answer=answer)
    rules, given = read_bundle(bundle), Given(ranks, threads, ranks_per_node)
    with ending(NotMeasured, words=AGAIN):
        if prepare:
            made = acceptance.prepare(rules, secret, run, given, work, say)
            return print_lines([f"{made.run}: checksum {made.checksum}, kept in {short(secret)}"])
        held = None if answer is None else read_answer(answer)
        found = acceptance.accept(rules, secret, held, given, work, tolerance, say)
    figure, promised = found["figure"], found["promised"]
    verdict = f"{'ACCEPTED' if found['accepted'] else 'NOT ACCEPTED'}: {found['run']}, real-time factor"
    ends = f"{figure['value']:.4g} ({figure['low']:.4g} to {figure['high']:.4g})"
    print_lines([f"{verdict} {ends}{f', promised {promised:.4g}' if promised else ''}", *found["reasons"]])
    raise typer.Exit(0 if found["accepted"] else 1)


@partial(command, hidden=True)
def environment(*, out: Path) -> None:
    """Write a description of this node. `tender run` starts this on every node.

    --out DIR: Folder of the files of all nodes.
    """
    from spikemark.tender.environment import write_node

    say(str(write_node(out)))


@command
def statistics(runs: Files, *, spread: Number, shortfall: float = 0.05, json) -> None:
    """Compute how often acceptance runs fail a good machine and pass a bad one, by runs and tolerance.

    The spread from run to run comes from repetitions, or from --spread. Prints which tolerance and number of
    runs keep both risks small.

    Example: spikemark tender statistics answers/acme --shortfall 0.05

    RUNS…: Answers, results folders, or folders of repeated runs.
    --spread: Spread from run to run, instead of runs: 0.02 is 2 %.
    --shortfall: Shortfall of a machine that must be detected.
    """
    from spikemark.tender import statistics

    if bool(runs) == (spread is not None):
        raise BadInput("runs: expected either folders of RUNS or --spread")
    if not 0 < shortfall <= 10:
        raise BadInput.of("shortfall", shortfall, "above 0, up to 10 (0.05 is 5 %)", code="range")
    of = statistics.measured(runs) if runs else statistics.Spread(spread)
    lines, table = statistics.sentences(of, shortfall), statistics.table(of, shortfall)
    show(json, lambda: statistics.content(of, shortfall), lines, [table])

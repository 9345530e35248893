"""Verbs that predict runs that were not made: predict, advise, compare, and anchor and score behind them."""

import inspect
from dataclasses import replace
from pathlib import Path

from spikemark.core.errors import BadInput

from .kinds import Count, File, Files, NeededProfile, OutputFile, Profile, Profiles, Text
from .options import GROUPS, machine_profile, needed, network, only_with, ranks_by_part, verb, whole_numbers
from .output import answer, bar, print_lines


def _network_or_run(networks, *, run, preset, full, option, rate):
    """The network that is asked about, or the folder of a run."""
    if len(networks or []) == 1 and Path(networks[0]).is_dir():
        only_with("a network, not a run", None, run=run, preset=preset, rate=rate)
        return Path(networks[0])
    return network(networks, run=run, preset=preset, full=full, option=option, rate=rate)


_network_or_run.__doc__, _network_or_run.__signature__ = network.__doc__, inspect.signature(network)
GROUPS["network_or_run"] = _network_or_run


@verb
def predict(
    network_or_run, how, *, machine: NeededProfile, nodes, ranks: Text, threads, ranks_per_node, on,
    compute_from: File, simulator, anchor, json,
) -> None:  # fmt: skip
    """Predict time, energy and memory of a run on a machine, each with its 95 % interval.

    Times of the mini-app follow from the machine's kernel times; those of another simulator, such as NEST,
    from its own runs: published ones, or those in a table (--anchor). If NETWORK is the folder of a run, the
    command prints the run beside its prediction.

    Example: spikemark predict microcircuit --full --machine supermuc-ng --nodes 2

    --machine: A file in machines/, or a path.
    --ranks N,N: Numbers of ranks, such as 16,32 [one on each node].
    --compute-from DIR: Take compute times from this dry run (`spikemark dryrun`).
    """
    from spikemark import machines
    from spikemark.prediction import answers, question, search
    from spikemark.prediction.layout import Layout, threads_of
    from spikemark.prediction.workload import Loads

    asked = network_or_run
    if isinstance(asked, Path):
        from spikemark.prediction import beside
        from spikemark.records import dry_run, imported, record

        only_with("a network, not a run", None, ranks=ranks, nodes=nodes, **how)
        if dry_run.is_dry_run(asked) or (asked / imported.ABOUT).is_file():
            raise BadInput(f"{asked}: expected the folder of a run of the mini-app")
        found = record.load(asked)
        made = beside.of_run(found, machine_profile(machine))
        sentences, table, lines = beside.beside(found, made)
        return answer(json, lambda: beside.beside_content(found, made), sentences, [table], lines)
    timed, made, counts = None, [], []
    if compute_from is not None:
        from spikemark.prediction import measured
        from spikemark.records import dry_run

        if not dry_run.is_dry_run(compute_from):
            raise BadInput.of("compute_from", str(compute_from), "a folder that `spikemark dryrun` wrote")
        timed = dry_run.load(compute_from)
        asked = asked or question.of_description(
            f"the network of {timed.path}", timed.about.description, timed.alone.rate_hz
        )
    asked = needed(asked)
    if simulator not in search.MINI_APP:
        if ranks is not None:
            raise BadInput("ranks: a production simulator is asked about nodes; expected --nodes N")
        made = search.found(asked, machine_profile(machine), simulator, None, nodes, anchor).options[:6]
    else:
        asked, by_part, profile = asked.way(**how), ranks_by_part(on), machine_profile(machine, parts=True)
        counts = whole_numbers(ranks, "ranks") if ranks else [sum(by_part.values())] if by_part else []
        if timed is not None:
            counts, threads = counts or [timed.ranks], threads or timed.about.threads
        counts = counts or ([nodes * (ranks_per_node or 1)] if nodes else [])
        if not counts:
            raise BadInput("nodes: missing; expected --nodes N, or --ranks N,N")
        threads = threads or threads_of(profile, ranks_per_node, by_part)
    for count in counts:
        loads, means = Loads.of(asked.description, count, threads, asked.rates.hz), None
        if timed is not None:
            measured.check(timed, loads.description, ranks=loads.ranks, threads=loads.threads)
            means = timed.means()
        layout = Layout.of(profile, count, threads, ranks_per_node, by_part)
        if nodes is not None and layout.nodes != nodes:
            raise BadInput(f"nodes={nodes}: {count} ranks take {layout.nodes}; expected as many")
        made.append(search.option(asked, profile, loads, layout, means=means))
    stated = machines.load_any(machine)
    about = {"kind": "modelled", "profile": {"name": stated.name, "digest": machines.digest(stated)}}
    sentences, table, lines = answers.predicted(made)
    return answer(json, lambda: about | answers.predicted_content(made), sentences, [table], lines)


@verb
def advise(
    asked, how, *, machine: Profile, target_rtf, nodes, simulator, anchor, times: File, html, json
) -> None:
    """Advise how to run a network on a machine.

    Tries all schedules, placements, exchanges, D and lags that are exact on the nodes that the machine
    offers. Prints the best of every schedule, their ratios, and the command that runs the best one. For a
    production simulator: its time, and what a structure-aware schedule would save.

    Example: spikemark advise mam-benchmark --full --machine jureca-dc --target-rtf 1

    --machine: A file in machines/, or a path.
    --target-rtf FACTOR: Real-time factor to reach on the fewest nodes [the fastest].
    --times DIR: Imported cycle times of the simulator, to replay other schedules.
    """
    from spikemark import machines
    from spikemark.prediction import answers, search

    if machine is None:
        raise BadInput(f"machine: missing; expected one of {', '.join(machines.names())}, or a path")
    _above("target_rtf", target_rtf)
    asked, profile = needed(asked).way(**how), machine_profile(machine)
    with bar("trying what is exact"):
        found = search.found(asked, profile, simulator, target_rtf, nodes, anchor)
    every = found.options
    if found.best.run is not None:
        changes = None
        if times is not None:
            from spikemark.prediction import replayed

            changes = replayed.changes(times, search.largest_window(asked))
        found = search.by_schedule(found, changes)
    screen = answers.advised(found, target_rtf)
    _page(html, "advice", screen, {profile.name: every})
    _print(json, lambda: answers.advised_content(found), screen)


@verb
def compare(
    machines: Profiles, named, how, *, simulator, anchor, target_rtf=1.0, nodes, years, hours_per_year,
    price_kwh, html, json,
) -> None:  # fmt: skip
    """Compare machines for a network: time, their ratio, energy, power and price, each with its interval.

    Uses the fewest nodes that reach the target in half of the draws, or exactly --nodes; never more than an
    offer has (offer.nodes in its profile).

    Example: spikemark compare offer-a.yaml offer-b.yaml --preset mam --full --simulator nest --target-rtf 1

    MACHINE…: Files in machines/, or paths.
    """
    from spikemark.prediction import answers, search

    _above("target_rtf", target_rtf)
    for name, value in ("price_kwh", price_kwh), ("years", years), ("hours_per_year", hours_per_year):
        _above(name, value)
    asked, found = needed(named).way(**how), {}
    with bar("trying what is exact"):
        for name in machines:
            machine = machine_profile(name)
            if machine.name in found:
                raise BadInput(f"machine={name}: given twice; expected different machines")
            found[machine.name] = search.found(asked, machine, simulator, target_rtf, nodes, anchor)
    screen = answers.compared(found, target_rtf, years, hours_per_year, price_kwh)
    _page(html, "comparison of machines", screen, {name: one.options for name, one in found.items()})
    _print(json, lambda: answers.compared_content(found, target_rtf) | {"network": asked.title}, screen)


def _above(name: str, value: float | None) -> None:
    """Raises BadInput for a number that is given and not above 0."""
    if value is not None and not 0 < value < float("inf"):
        raise BadInput.of(name, value, "a number above 0", code="range")


def _page(html: Path | None, title: str, screen: tuple, options: dict) -> None:
    if html is not None:
        from spikemark.report import answer_page

        answer_page.write(html, title, screen, options)


def _print(json: bool, content, screen: tuple) -> None:
    sentences, table, lines = screen
    answer(json, lambda: {"sentence": " ".join(sentences)} | content(), sentences, [table], lines)


@verb
def anchor(
    *, machine: NeededProfile, asked, nodes: str = "1", ranks: Count, threads, out: File, runs: File,
    version: str = "3.10", keep: OutputFile, json,
) -> None:  # fmt: skip
    """Write the NEST runs that anchor predictions, or read them back.

    A network that takes ten minutes on one full node is enough. Its runs then serve as
    `spikemark predict --simulator nest --anchor RUNS.csv`.

    --machine: A file in machines/, or a path.
    --nodes N,N: Numbers of nodes to run on, or to predict with --runs.
    --ranks: Ranks on each node [one on each socket].
    --out DIR: Folder to write, for the machine.
    --runs RUNS.csv: The table that the runs filled.
    --version: Version of NEST, for --runs.
    --keep FILE: Keep predictions of the runs, for `spikemark score`.
    """
    from spikemark.core import places
    from spikemark.core.files import write_output
    from spikemark.prediction import anchor_run, points, question

    asked, where = needed(asked), question.machine_of(machine_profile(machine))
    each, counts = ranks or where.sockets, whole_numbers(nodes, "nodes")
    like = asked.simulated_by("NEST", version, where, 1)
    like = replace(like, ranks=each, threads=threads or max(1, where.cores // each))
    if (out is None) == (runs is None):
        raise BadInput("out: expected either --out FOLDER, or --runs RUNS.csv")
    if out is not None:
        planned = [like.with_nodes(n) for n in counts]
        names = anchor_run.write(out, asked.description, planned, places.root() / "workflows/peers")
        return print_lines([f"{out}: {', '.join(names)}", f"There: bash {out}/run.sh",
                            f"Then: spikemark anchor ... --runs {out}/runs.csv --nodes 1,2,4"])  # fmt: skip
    rows = anchor_run.rows(points.own_runs(runs, like), counts)
    if keep is not None:
        write_output(keep, anchor_run.stored(rows))
    lines, table = anchor_run.answer(rows, like)
    more = f"Next: spikemark predict --simulator nest --anchor {runs} --machine {machine} ..."
    return answer(json, table.content, lines, [table], [more])


@verb
def score(
    points: File, predictions: File, *, details, markdown: bool = False, fit: bool = False, runs: Files,
    machine: Profile, json,
) -> None:  # fmt: skip
    """Score predicted real-time factors against measured ones, beside two baselines.

    The model predicts each series of times from other series only.

    POINTS.csv: Points to predict, instead of the published ones.
    PREDICTIONS.json: Stored predictions to score, instead of the model's.
    --markdown: Print the table of the documentation.
    --fit: Estimate costs and spreads from the published points, and keep them.
    --runs DIR: With --fit: runs of the mini-app, for the errors of its parts.
    --machine: With --runs: the calibrated machine that they ran on.
    """
    from spikemark.prediction import anchors, beside, score
    from spikemark.records import record

    if (runs is None) != (machine is None) or (runs and not fit):
        raise BadInput("runs: expected --fit, --runs DIR and --machine together")
    if fit:
        measured = [record.load(one) for one in runs or []]
        errors = beside.errors(measured, machine_profile(machine)) if measured else None
        return print_lines([str(anchors.keep_spreads(errors))])
    if markdown:
        return print_lines(score.table(score.score()).markdown().splitlines())
    found = score.score(points) if predictions is None else score.stored(predictions, points)
    inside = found.frame.loc[found.frame["method"] == found.mine, "inside"]
    first = f"{inside.mean():.0%} of {len(inside)} measured times lie in the predicted intervals."
    if found.frame["method"].nunique() > 1:
        kinds = [kind for kind in found.kinds if kind != "platform"]
        first += f" The model beats both baselines in {len(found.beaten)} of {len(kinds)} kinds of test."
    more = [*score.CONDITIONS, f"Digest of code and data: {found.digest}"]
    more += [] if details else ["Every series: spikemark score --details"]
    table = score.table(found, "series" if details else "kind")
    return answer(json, lambda: score.as_json(found), [first], [table], more)

"""What was not measured: networks, machines, and questions about the two.

The functions are called as `spikemark.network`, `spikemark.machine`, `spikemark.predict`,
`spikemark.advise` and `spikemark.compare`.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.core.arguments import public
from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.yaml_file import names_file
from spikemark.machines import identity
from spikemark.machines.parts import MachineOfParts
from spikemark.machines.profile import Profile
from spikemark.prediction import beside, programs, question
from spikemark.prediction.advised import AdviceAnswer
from spikemark.prediction.beside import RunAnswer
from spikemark.prediction.compared import ComparisonAnswer
from spikemark.prediction.costs import Use, check_above_0
from spikemark.prediction.mini_app import MINI_APP
from spikemark.prediction.option import Option
from spikemark.prediction.predicted import PredictionAnswer
from spikemark.prediction.production import OwnTable
from spikemark.prediction.question import Question
from spikemark.records import dry_run, record
from spikemark.records.dry_run import DryRun
from spikemark.records.record import Run

FilePath = str | PathLike[str]


@public
def network(
    name_or_file: FilePath | Mapping[str, Any],
    *,
    full: bool = False,
    rate: float | None = None,
    **options: object,
) -> Question:
    """A network to ask about, and the rates at which its neurons fire.

    Args:
        name_or_file: a preset (microcircuit, mam, mam-benchmark, ...), the file of a run
            description, or a description as a mapping.
        full: the preset at its published size.
        rate: mean firing rate in Hz, where neither the network nor its publication gives it.
        options: of the preset, as `spikemark preset NAME --help` lists them, such as areas=64.

    Returns:
        Question: `description` is the run description, `known` the same as an object, `rates.hz`
        the rates.

    Raises:
        BadInput: for an unknown name or option, a file that is no run description, and where
            nobody knows the rates.

    Example:
        >>> benchmark = network("mam-benchmark", areas=4, neurons_per_area=1000, indegree=100)
        >>> benchmark.known.neurons, benchmark.known.network.synapses
        (4000, 400000)
    """
    return _network(name_or_file, "name_or_file", full, rate, options)


def _network(
    name_or_file: FilePath | Mapping[str, Any],
    asked_as: str,
    full: bool = False,
    rate: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Question:
    """The same; `asked_as`: the argument that an error about the name is about."""
    options = options or {}
    if isinstance(name_or_file, Mapping):
        _without_preset(full, options)
        return question.of_description("this network", dict(name_or_file), rate)
    if names_file(name_or_file):
        _without_preset(full, options)
        return question.of_file(Path(name_or_file), rate)
    words = []
    for option, value in options.items():
        text = json.dumps(value) if isinstance(value, bool) else str(value)
        words.append(f"{option}={text}")
    return question.of_preset(str(name_or_file), full, words or None, rate, asked_as)


def _without_preset(full: bool, options: Mapping[str, Any]) -> None:
    """Raises BadInput for options of a preset where the network is none."""
    names = ["full"] if full else list(options)
    if names:
        line = f"{names[0]}: without a preset; expected only with one"
        raise BadInput(line, field=names[0], code="conflict")


@public
def machine(name_or_file: FilePath) -> Profile | MachineOfParts:
    """A machine: what is known about it, each value with its unit, kind and reference.

    Args:
        name_or_file: the name of a file in machines/, or the path of a .yaml file.

    Returns:
        Profile: `get(path)` is a value such as node.cores, `unknown()` lists what the file lacks.
        MachineOfParts, where the machine consists of unequal nodes. Questions assume what is
        unknown, from priors over other machines.

    Raises:
        BadInput: for an unknown name, and a file that is no profile; it names the field.

    Example:
        >>> jureca = machine("jureca-dc")
        >>> jureca.get("node.cores").value, jureca.get("node.cores").kind
        (128, 'literature')
    """
    return machines.load_any(os.fspath(name_or_file))


@public
def predict(
    network: FilePath | Mapping[str, Any] | Question | Run | None,
    machine: FilePath | Profile | MachineOfParts,
    *,
    nodes: int | Sequence[int] | None = None,
    ranks: int | Sequence[int] | None = None,
    threads: int | None = None,
    ranks_per_node: int | None = None,
    on: Mapping[str, int] | None = None,
    schedule: str | None = None,
    placement: str | None = None,
    delay_ratio: int | str | None = None,
    lag: int | None = None,
    exchange: str | Mapping[str, str] | None = None,
    compute_from: FilePath | DryRun | None = None,
    program: str = "mini-app",
    anchor: FilePath | None = None,
) -> PredictionAnswer | RunAnswer:
    """Time, energy and memory of a run on a machine, each with its 95 % interval.

    Times of the mini-app follow from the machine's kernel times; those of another program, such
    as NEST, from its own runs: published ones, or those in a table. A run of the mini-app is put
    beside its prediction.

    Args:
        network: as `spikemark.network` takes or returns it; or a run, or its folder; None: that of
            `compute_from`.
        machine: as `spikemark.machine` takes or returns it.
        nodes: number of nodes, or several; for another program, all numbers that are offered by
            default.
        ranks: number of ranks, or several; by default one on each node.
        threads: of a rank; all cores by default.
        ranks_per_node: ranks that share a node; as many as fit by default.
        on: ranks by part, of a machine of parts.
        schedule: that of the description by default.
        placement: of the neurons; as the schedule needs by default.
        delay_ratio: D, cycles between two exchanges of all ranks; "auto" is the largest exact one.
        lag: L, how many windows an exchange may take.
        exchange: of all lanes, or a mapping from lanes to names.
        compute_from: a dry run, or its folder, whose compute times are used.
        program: mini-app, nest or dpsnn.
        anchor: a table of runs of the program: nodes, ranks, threads, real_time_factor.

    Returns:
        PredictionAnswer: `table` has a row for each number of ranks or nodes; `options` have the
        draws. RunAnswer for a run.

    Raises:
        BadInput: for unknown names, a D or a lag that the schedule does not use, ranks that do not
            fit on the machine, and where nothing anchors a prediction.

    Example:
        >>> answer = predict(network("microcircuit", full=True), "supermuc-ng", nodes=2)
        >>> answer.table[["nodes", "ranks"]].to_dict("records")
        [{'nodes': 2, 'ranks': 2}]
        >>> answer.table.attrs["units"]["power_w"]
        'W'
    """
    ways = {
        "schedule": schedule,
        "placement": placement,
        "delay_ratio": delay_ratio,
        "lag": lag,
        "exchange": exchange,
    }
    arguments = {
        **ways,
        "ranks": ranks,
        "threads": threads,
        "ranks_per_node": ranks_per_node,
        "on": on,
        "compute_from": compute_from,
        "anchor": anchor,
    }
    asked_program = programs.program_named(program)
    run = _run(network)
    if run is not None:
        others = {"nodes": nodes, **arguments}
        others["program"] = None if asked_program is programs.PROGRAMS[MINI_APP] else program
        _without("a run, which states how it ran", **others)
        return RunAnswer(run, beside.of_run(run, _filled(equal_nodes(machine))))
    stated = _machine(machine)
    asked_program.refuse_unused(**arguments)
    run_alone = _dry_run(compute_from)
    if network is None and run_alone is not None:
        asked = _network_of(run_alone)
    elif network is None:
        expected = "a file such as run.json, or a preset"
        raise BadInput(field="network", reason="missing", expected=expected, code="missing")
    else:
        asked = question_about(network)
    node_counts = _numbers(nodes)
    if ranks is not None and len(node_counts) > 1:
        reason = "several, beside numbers of ranks"
        raise BadInput(field="nodes", reason=reason, expected="one of the two", code="conflict")
    layout = programs.AskedLayout(
        ranks=_numbers(ranks),
        threads=threads,
        ranks_per_node=ranks_per_node,
        ranks_by_part=None if on is None else dict(on),
        dry_run=run_alone,
        anchor=_path(anchor),
    )
    asked = asked.way(**ways | {"exchange": _exchange(exchange)})
    options: list[Option] = []
    each_count: Sequence[int | None] = node_counts or (None,)
    for count in each_count:
        options += asked_program.options(asked, _filled(stated), replace(layout, nodes=count))
    if not node_counts and ranks is None:
        options.sort(key=lambda option: option.nodes)
    return PredictionAnswer(options, stated, _word(machine))


@public
def advise(
    network: FilePath | Mapping[str, Any] | Question,
    machine: FilePath | Profile,
    *,
    target_rtf: float | None = None,
    nodes: int | None = None,
    schedule: str | None = None,
    placement: str | None = None,
    delay_ratio: int | str | None = None,
    lag: int | None = None,
    exchange: str | Mapping[str, str] | None = None,
    program: str = "mini-app",
    anchor: FilePath | None = None,
    times: FilePath | None = None,
) -> AdviceAnswer:
    """How to run a network on a machine.

    Tries all schedules, placements, exchanges, D and lags that are exact on the nodes that the
    machine offers. For a production program: its time, and what a structure-aware schedule would
    save.

    Args:
        network: as `spikemark.network` takes or returns it.
        machine: of equal nodes, as `spikemark.machine` takes or returns it.
        target_rtf: real-time factor to reach on the fewest nodes; the fastest by default.
        nodes: number of nodes; as few as are needed by default.
        schedule: the only one to try, and likewise:
        placement: of the neurons.
        delay_ratio: D; the largest exact one by default.
        lag: L; 1 to 3 by default.
        exchange: of all lanes, or a mapping from lanes to names.
        program: mini-app, nest or dpsnn.
        anchor: a table of runs of the program: nodes, ranks, threads, real_time_factor.
        times: folder of imported cycle times of the program, to replay other schedules.

    Returns:
        AdviceAnswer: `table` has the best way of each schedule, the best first.

    Raises:
        BadInput: as `spikemark.predict`, and where no schedule is exact and fits.

    Example:
        >>> answer = advise("microcircuit", "epyc-vm", nodes=1)
        >>> len(answer.table) == len(answer.result.options)
        True
    """
    check_above_0("target_rtf", target_rtf)
    ways = {
        "schedule": schedule,
        "placement": placement,
        "delay_ratio": delay_ratio,
        "lag": lag,
        "exchange": _exchange(exchange),
    }
    asked_program = programs.program_named(program)
    asked_program.refuse_unused(anchor=anchor, times=times, **ways)
    profile = _filled(equal_nodes(machine))
    asked = question_about(network).way(**ways)
    own = [] if anchor is None else [OwnTable(Path(anchor), profile)]
    result = asked_program.search(asked, profile, target_rtf, nodes, own)
    options_by_machine = {profile.name: result.options}
    result = asked_program.with_schedules(result, _path(times))
    return AdviceAnswer(result, asked, target_rtf, options_by_machine, _word(machine))


@public
def compare(
    network: FilePath | Mapping[str, Any] | Question,
    machines: Sequence[FilePath | Profile],
    *,
    target_rtf: float = 1.0,
    nodes: int | None = None,
    schedule: str | None = None,
    placement: str | None = None,
    delay_ratio: int | str | None = None,
    lag: int | None = None,
    exchange: str | Mapping[str, str] | None = None,
    program: str = "mini-app",
    anchor: FilePath | Mapping[str, FilePath] | None = None,
    years: float = 5.0,
    hours_per_year: float = 8000.0,
    price_kwh: float | None = None,
) -> ComparisonAnswer:
    """Machines for a network side by side: time, its ratio, energy, power and price.

    Each figure has its 95 % interval, ratios from common draws. Uses the fewest nodes that reach
    the target in half of the draws, or exactly `nodes`; never more than an offer has.

    Args:
        network: as `spikemark.network` takes or returns it.
        machines: of equal nodes, each as `spikemark.machine` takes or returns it.
        target_rtf: real-time factor to reach; 1 is real time.
        nodes: number of nodes; as few as are needed by default.
        schedule: the only one to try, and likewise:
        placement: of the neurons.
        delay_ratio: D; the largest exact one by default.
        lag: L; 1 to 3 by default.
        exchange: of all lanes, or a mapping from lanes to names.
        program: mini-app, nest or dpsnn.
        anchor: tables of runs of the program (nodes, ranks, threads, real_time_factor), by the name
            of their machine; of a single machine, its table. Runs on one machine inform all that
            have its processor, its nodes or its network.
        years: of use, up to 100.
        hours_per_year: of use, up to 8784.
        price_kwh: price of one kWh of energy.

    Returns:
        ComparisonAnswer: `table` has the best option of each machine.

    Raises:
        BadInput: for a machine that is named twice, numbers that are not above 0 or larger than
            possible, and as `spikemark.advise`.

    Example:
        >>> answer = compare(network("mam", full=True), ["jureca-dc", "supermuc-ng"],
        ...                  program="nest", nodes=32)
        >>> list(answer.table["machine"])
        ['jureca-dc', 'supermuc-ng']
    """
    check_above_0("target_rtf", target_rtf)
    use = Use(years, hours_per_year, price_kwh)
    ways = {
        "schedule": schedule,
        "placement": placement,
        "delay_ratio": delay_ratio,
        "lag": lag,
        "exchange": _exchange(exchange),
    }
    asked_program = programs.program_named(program)
    asked_program.refuse_unused(anchor=anchor, **ways)
    profiles = _side_by_side(machines)
    asked = question_about(network).way(**ways)
    results = {}
    words = {}
    for profile, name_or_file in zip(profiles, machines, strict=True):
        words[profile.name] = _word(name_or_file) or profile.name
    tables = _anchors(anchor, words)
    own = [OwnTable(tables[each.name], each) for each in profiles if each.name in tables]
    for profile in profiles:
        results[profile.name] = asked_program.search(asked, profile, target_rtf, nodes, own)
    return ComparisonAnswer(results, asked, target_rtf, use, words)


# What the arguments of questions mean


def _run(network: object) -> Run | None:
    """The run that is asked about, or that is in a folder; None for a network.

    Raises BadInput for the folder of a dry run or of imported times.
    """
    if isinstance(network, Run):
        return network
    if not isinstance(network, str | PathLike) or not Path(network).is_dir():
        return None
    from spikemark.records import imported  # loads pandas and Arrow

    folder = Path(network)
    if dry_run.is_dry_run(folder) or (folder / imported.IMPORT_FILE).is_file():
        expected = "the folder of a run of the mini-app"
        raise BadInput(f"expected {expected}", file=folder, code="file")
    return record.load_run(folder)


def question_about(network_or_name: FilePath | Mapping[str, Any] | Question | Run) -> Question:
    """The network that is asked about.

    Example:
        >>> question_about("mam-benchmark").title
        'mam-benchmark'
    """
    if isinstance(network_or_name, Question):
        return network_or_name
    if isinstance(network_or_name, Run):
        run = network_or_name
        return question.of_description(run.path.name, run.record.description)
    return _network(network_or_name, asked_as="network")


def _machine(profile_or_name: FilePath | Profile | MachineOfParts) -> Profile | MachineOfParts:
    """The machine that is asked about, as its file states it."""
    if isinstance(profile_or_name, Profile | MachineOfParts):
        return profile_or_name
    return machine(profile_or_name)


def equal_nodes(profile_or_name: FilePath | Profile | MachineOfParts) -> Profile:
    """The same. Raises BadInput for a machine of parts, and for nodes with accelerators.

    Example:
        >>> equal_nodes("jureca-dc").name
        'jureca-dc'
        >>> equal_nodes(machines.load_any("two-generations"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: machine='two-generations'; expected a profile of equal nodes
    """
    if isinstance(profile_or_name, MachineOfParts):
        expected = "a profile of equal nodes"
        raise BadInput(field="machine", value=profile_or_name.name, expected=expected)
    profile = profile_or_name
    if not isinstance(profile, Profile):
        profile = machines.load(os.fspath(profile))
    profile.refuse_accelerators()
    return profile


def _filled(profile: Any) -> Any:
    """The machine, with what is unknown assumed from priors."""
    return machines.filled(profile)


def _numbers(one_or_several: int | Sequence[int] | None) -> Sequence[int]:
    if one_or_several is None:
        return ()
    return (one_or_several,) if isinstance(one_or_several, int) else one_or_several


def _exchange(exchange: str | Mapping[str, str] | None) -> Any:
    """An exchange as a description has it."""
    return dict(exchange) if isinstance(exchange, Mapping) else exchange


def _dry_run(folder_or_run: FilePath | DryRun | None) -> DryRun | None:
    """The dry run whose compute times are used. Raises BadInput for a folder without one."""
    if folder_or_run is None or isinstance(folder_or_run, DryRun):
        return folder_or_run
    folder = Path(folder_or_run)
    if not dry_run.is_dry_run(folder):
        expected = f"a folder that `spikemark dryrun` wrote, with {dry_run.DRY_RUN_FILE}"
        raise BadInput(field="compute_from", value=str(folder), expected=expected)
    return dry_run.load_dry_run(folder)


def _network_of(run: DryRun) -> Question:
    """The network of a dry run, with the rate at which its rank fired."""
    title = f"the network of {run.path}"
    return question.of_description(title, run.about.description, run.alone.rate_hz)


def _without(what: str, **arguments: object) -> None:
    """Raises BadInput for an argument that means nothing beside `what`."""
    for name, value in arguments.items():
        if value is not None:
            raise BadInput(field=name, reason=f"beside {what}", expected="none", code="conflict")


def _word(machine: FilePath | Profile | MachineOfParts) -> str:
    """How a command names a machine; empty where it has no more than its name."""
    return os.fspath(machine) if isinstance(machine, str | PathLike) else ""


def _anchors(
    anchor: FilePath | Mapping[str, FilePath] | None, words: Mapping[str, str]
) -> dict[str, Path]:
    """The table of own runs of each machine, by the name of its profile.

    Args:
        anchor: the tables by machine, or that of the only machine.
        words: how the question names each machine, by the name of its profile.

    Raises BadInput for a table of several machines, and for machines that are not compared.
    """
    if anchor is None:
        return {}
    if not isinstance(anchor, Mapping):
        if len(words) > 1:
            expected = f"MACHINE=RUNS.csv, the machine one of {', '.join(words.values())}"
            reason = "does not say which machine was measured"
            raise BadInput(field="anchor", value=str(anchor), reason=reason, expected=expected)
        return {name: Path(anchor) for name in words}
    names_by_word = {word: name for name, word in words.items()} | {name: name for name in words}
    tables = {}
    for word, file in anchor.items():
        if word not in names_by_word:
            raise unknown_name("anchor", word, names_by_word)
        tables[names_by_word[word]] = Path(file)
    return tables


def _path(file: str | os.PathLike[str] | None) -> Path | None:
    """A file by its path."""
    return None if file is None else Path(file)


def _side_by_side(names: Sequence[FilePath | Profile]) -> list[Profile]:
    """The profiles of machines, in their order, each with a name of its own.

    Where files of different folders give one name, the folder becomes part of it; where folders of
    one name do, so does the position. Raises BadInput for a machine that is named twice.
    """
    folders = []
    sources: list[object] = []
    for name in names:
        source: object = name
        folder = "machines"
        if not isinstance(name, Profile) and names_file(name):
            source = Path(name).resolve()
            folder = Path(name).resolve().parent.name or folder
        if source in sources:
            reason = "given twice"
            line = f"machine={name}: {reason}; expected different machines"
            raise BadInput(line, field="machine", code="conflict")
        sources.append(source)
        folders.append(folder)
    profiles = [_filled(equal_nodes(name)) for name in names]
    machines_of_name = Counter(profile.name for profile in profiles)
    origins = [(profile.name, folder) for profile, folder in zip(profiles, folders, strict=True)]
    machines_of_origin = Counter(origins)
    renamed = []
    for position, (profile, folder) in enumerate(zip(profiles, folders, strict=True), start=1):
        if machines_of_name[profile.name] > 1:
            place = folder
            if machines_of_origin[profile.name, folder] > 1:
                place = f"{folder}, {position}"
            profile = replace(profile, name=f"{profile.name} ({place})")
        renamed.append(profile)
    return identity.sharing_draws(renamed)

"""What a reader of the times must know, judged from the facts of a record (format_version 3 and
later).

`warnings` gives sentences, each with its kind before a colon: `oversubscribed`, `silent`, … They
are judged when a record is read, so that a better judgement reaches old records, too. Imports
nothing heavy: a process is started for every run.

A measured run says nothing about speed if it is too short (`too_short`): if it lasts less than
SHORTEST_S, or if reading the clock takes more than MAX_CLOCK_SHARE of it. Simulated runs have an
exact clock, which costs nothing and which no other program disturbs; they are never too short.
"""

import math
from collections.abc import Iterator
from typing import Any

from spikemark.core.errors import short_repr
from spikemark.quantities.words import counted

#: Spikes per neuron and second above which a network may have diverged.
HIGH_RATE_HZ = 200.0
#: Relative difference of a rate that counts as reached.
RATE_TOLERANCE = 0.01
#: By how much the system clock may be set during a run.
CLOCK_STEP_S = 0.01
#: Cores that other processes, a hypervisor or a quota may take before a run has a warning.
FOREIGN_CORES = 0.1
STOLEN_CORES = 0.02
THROTTLED_CORES = 0.02
OVERSUBSCRIBED = "oversubscribed"
NO_EVIDENCE = "times are no evidence of speed"
#: Seconds that the measured part of a run lasts at least, else the run says nothing about speed.
#: The system counts busy time in ticks of 10 ms; in less than 20 of them the mini-app cannot tell
#: whether other programs kept more than a tenth of a core busy (host.foreign_load is null,
#: miniapp/src/record/record.c), and one interruption of 10 ms is more than 5 % of the run.
SHORTEST_S = 0.2
#: Largest share of a run that reading the clock may take, once for each phase of each cycle. It is
#: the same under every schedule, so this share of what a schedule saves would be hidden.
MAX_CLOCK_SHARE = 0.2
#: How much longer than SHORTEST_S a run is to last that follows `enough_ms`: its speed is known
#: from a short run only.
LENGTH_MARGIN = 1.5
#: Beginnings of warnings about what took processors away, and about ranks that share cores.
FOREIGN = ("foreign load", "stolen time", "throttled")
SHARED = (OVERSUBSCRIBED, "bound too tightly", "shared cores")
#: Variables of the environment that slow programs down, and what they do.
SLOWING = {
    "LD_PRELOAD": "loads a library into every rank",
    "LD_AUDIT": "has a library watch the loader in every rank",
    "MALLOC_CHECK_": "checks every allocation",
    "MALLOC_PERTURB_": "fills memory at every allocation",
}
#: Policies of the scheduler under which ranks give way to others.
GIVING_WAY = ("batch", "idle")


def warnings(record: dict[str, Any]) -> list[str]:
    """Sentences about a run, each with its kind before a colon: `oversubscribed`, `silent`, …

    Args:
        record: record.json, of a run or of a rank that ran alone.

    Example:
        >>> from spikemark.records.record import load_run
        >>> run = load_run("tests/golden/analysis/records/slow-rank-8")
        >>> [remark.split(":")[0] for remark in run.record.warnings]  # calls this function
        ['oversubscribed', 'passive waiting', 'virtual machine', 'foreign load']
    """
    sentences = list(_about_network(record))
    if record["kind"] != "simulated":
        sentences += _about_host(record)
    sentences += _about_counters(record)
    sentences += _about_dry_run(record.get("dry_run"))
    for lane in record["lanes"]:
        if lane["blocks"]:
            sentences.append(
                f"lane {lane['name']}: exchange {lane['exchange']} blocks, so nothing overlaps"
            )
    return sentences


def no_evidence(reason: str) -> str:
    """That the times of a run do not tell its speed, and why; a reason that says so stays.

    Example:
        >>> no_evidence("other processes kept 1.2 cores busy")
        'other processes kept 1.2 cores busy; times are no evidence of speed'
    """
    if reason.endswith(NO_EVIDENCE):
        return reason
    return f"{reason}; {NO_EVIDENCE}"


def caution_sentence(caution: str) -> str:
    """One of `Run.cautions` as a sentence.

    Example:
        >>> caution_sentence(no_evidence("the measured part lasts 50 ms"))
        'Caution: the measured part lasts 50 ms; times are no evidence of speed.'
    """
    return f"Caution: {caution}."


def too_short(kind: str, simulate_s: float, clock_share: float) -> str:
    """Why a run says nothing about speed; empty if it may say something.

    Args:
        kind: `measured` or `simulated`.
        simulate_s: wall-clock time of the measured part, in s.
        clock_share: share of it that reading the clock took (timing.timer_overhead).

    Example:
        >>> too_short("measured", simulate_s=0.05, clock_share=0.01)
        'the measured part lasts 50 ms; expected at least 0.2 s'
        >>> too_short("measured", simulate_s=2.0, clock_share=0.01)
        ''
    """
    if kind == "simulated":
        return ""
    if simulate_s < SHORTEST_S:
        return (
            f"the measured part lasts {1e3 * simulate_s:.3g} ms; expected at least {SHORTEST_S:g} s"
        )
    if clock_share > MAX_CLOCK_SHARE:
        return (
            f"reading the clock takes {100 * clock_share:.0f} % of the time, as cycles are short;"
            f" expected at most {100 * MAX_CLOCK_SHARE:.0f} %, with more neurons or synapses on"
            " each rank"
        )
    return ""


def enough_ms(real_time_factor: float) -> float:
    """`time.simulate_ms` with which a run of this speed is long enough, rounded up to two digits.

    Example:
        >>> enough_ms(real_time_factor=0.7)
        430.0
    """
    least_ms = 1e3 * LENGTH_MARGIN * SHORTEST_S / max(real_time_factor, 1e-9)
    second_digit = 10.0 ** (math.floor(math.log10(least_ms)) - 1)
    return math.ceil(least_ms / second_digit) * second_digit


def _about_network(record: dict[str, Any]) -> Iterator[str]:
    """Warnings about rates of neurons."""
    populations = record["description"]["network"]["populations"]
    totals = record["totals"]
    if totals["spikes"] == 0:
        yield "silent: no neuron fired in the measured part"
    rate_hz = 0.0
    if totals["neurons"]:
        rate_hz = totals["spikes"] / totals["neurons"] / record["timing"]["model_s"]
    described_rates_hz = [population["neuron"].get("rate_hz", 0) for population in populations]
    if rate_hz > max(HIGH_RATE_HZ, *described_rates_hz):
        yield f"high rate: {rate_hz:.4g} spikes/s per neuron; the network may have diverged"
    step_ms = record["description"]["time"]["resolution_ms"]
    for population, described_hz in zip(populations, described_rates_hz, strict=True):
        if population["size"] == 0 or described_hz <= 0:
            continue
        steps = max(1, round(1000 / (described_hz * step_ms)))  # between two spikes
        reached_hz = 1000 / (step_ms * steps)
        if abs(reached_hz - described_hz) > RATE_TOLERANCE * described_hz:
            yield (
                f"rate_hz of population {population['name']}: {described_hz:.10g} becomes"
                f" {reached_hz:.10g}, since spikes are whole steps of {step_ms:.10g} ms apart"
            )


def _about_host(record: dict[str, Any]) -> Iterator[str]:
    """Warnings about processors and what else ran on them."""
    host = record["host"]
    threads = record["threads"]
    nodes = host["per_node"] or []
    crowded = []
    for node in nodes:
        if node["cores"] and node["ranks"] * threads > node["cores"]:
            crowded.append(node)
    yield from _about_oversubscription(nodes, crowded, threads)
    yield from _about_binding(host, threads, {node["name"] for node in crowded})
    yield from _about_waiting(host, crowded, threads)
    step_s = record["timing"]["clock_step_s"]
    if step_s is not None and abs(step_s) > CLOCK_STEP_S:
        yield f"system clock: it was set by {step_s:+.3f} s during the run; times go on as before"
    if host["virtual_machine"]:
        yield "virtual machine: other guests and the hypervisor affect the times"
    foreign_cores = host["foreign_load"] or 0
    if foreign_cores > FOREIGN_CORES:
        yield f"foreign load: other processes kept {foreign_cores:.2f} cores busy"
    stolen_cores = host["stolen_load"] or 0
    if stolen_cores > STOLEN_CORES:
        yield f"stolen time: the hypervisor took {stolen_cores:.2f} cores away"
    throttled_cores = host.get("throttled_load") or 0
    if throttled_cores > THROTTLED_CORES:
        yield f"throttled: a quota (cgroup) took {throttled_cores:.2f} cores away"
    yield from _about_surroundings(host.get("surroundings") or {})


def _about_oversubscription(
    nodes: list[dict[str, Any]], crowded: list[dict[str, Any]], threads: int
) -> Iterator[str]:
    """A warning about nodes with more threads than their quota allows, or else than cores.

    Args:
        nodes: of the run, as in the record.
        crowded: those that have more threads than cores.
        threads: of a rank.
    """
    rationed = [
        node for node in nodes if node["ranks"] * threads > (node.get("quota_cores") or math.inf)
    ]
    if rationed:
        worst = max(rationed, key=lambda node: node["ranks"] / node["quota_cores"])
        yield no_evidence(
            f"oversubscribed: {_layout(worst, threads)} on node {worst['name']},"
            f" where a quota (cgroup) leaves {worst['quota_cores']:.3g}"
            f" cores{_elsewhere(rationed)}"
        )
    elif crowded:
        worst = max(crowded, key=lambda node: node["ranks"] / node["cores"])
        yield no_evidence(
            f"oversubscribed: {_layout(worst, threads)} on {counted(worst['cores'], 'core')}"
            f" of node {worst['name']}{_elsewhere(crowded)}"
        )


def _layout(node: dict[str, Any], threads: int) -> str:
    """The ranks of a node, and the threads of each."""
    return f"{counted(node['ranks'], 'rank')} x {counted(threads, 'thread')}"


def _elsewhere(nodes: list[dict[str, Any]]) -> str:
    """That other nodes than the worst are in the same state."""
    if len(nodes) < 2:
        return ""
    return f", and likewise on {len(nodes) - 1} other nodes"


def _about_waiting(
    host: dict[str, Any], crowded: list[dict[str, Any]], threads: int
) -> Iterator[str]:
    """A warning where the way in which threads wait for each other changes times."""
    waiting = host["waiting"]
    if not waiting:
        return
    threads_per_core = host["threads_per_core"] or 1
    shares_hardware_threads = any(
        node["ranks"] * threads > node["cores"] * threads_per_core for node in crowded
    )
    if waiting["passive"] and (shares_hardware_threads or threads > 1):
        yield (
            f"passive waiting: threads sleep while they wait (set by the {waiting['chosen_by']}),"
            " which takes longer than it does when each thread has a core"
        )
    elif shares_hardware_threads:
        yield (
            "active waiting: threads that share hardware threads spin; try OMP_WAIT_POLICY=passive"
        )


def _about_surroundings(surroundings: dict[str, Any]) -> Iterator[str]:
    """Warnings about variables and priorities that slow ranks down."""
    variables = surroundings.get("variables", {})
    for name, effect in SLOWING.items():
        if variables.get(name) not in (None, "", "0"):
            yield f"environment: {name}={short_repr(variables[name])} {effect}"
    nice = surroundings.get("nice", 0)
    if nice > 0:
        yield f"low priority: ranks ran with nice {nice}, and give way to other programs"
    scheduler = surroundings.get("scheduler")
    if scheduler in GIVING_WAY:
        yield (
            f"low priority: the scheduler's policy is {scheduler}, and ranks give way to other"
            " programs"
        )


def _about_binding(host: dict[str, Any], threads: int, crowded: set[str]) -> Iterator[str]:
    """Warnings about ranks bound to fewer cores than they have threads, or to the same cores.

    Args:
        host: as in the record.
        threads: of a rank.
        crowded: names of nodes that have more threads than cores; these have another warning.
    """
    nodes = host["per_node"] or []
    node_of_rank = host["node_of_rank"]
    cores_of_rank = host["usable_cores"]
    tight = []
    for rank, cores in enumerate(cores_of_rank):
        is_short = nodes and 0 < len(cores) < threads
        if is_short and len(cores) != nodes[node_of_rank[rank]]["cores"]:
            tight.append(rank)
    if tight:
        yield (
            f"bound too tightly: rank {tight[0]} on node {nodes[node_of_rank[tight[0]]]['name']}"
            f" has {threads} threads and may use {len(cores_of_rank[tight[0]])} cores, and"
            f" {len(tight)} of {len(cores_of_rank)} ranks are bound so; try srun"
            f" --cpus-per-task={threads} --hint=nomultithread, or mpirun --bind-to none"
        )
    for number, node in enumerate(nodes):
        if node["name"] in crowded:
            continue
        ranks = [rank for rank, node_number in enumerate(node_of_rank) if node_number == number]
        if not ranks:
            continue
        lacking = _threads_without_core([tuple(cores_of_rank[rank]) for rank in ranks], threads)
        if lacking > 0:
            yield (
                f"shared cores: {lacking} threads on node {node['name']} have no core of their own;"
                " bind each rank to cores of its own, as srun --hint=nomultithread does"
            )
            return


def _threads_without_core(usable: list[tuple[int, ...]], threads: int) -> int:
    """How many threads of ranks that may use these cores have none of their own, at least.

    Counted over all ranks, and over the ranks of each set of cores.

    Args:
        usable: the cores that each rank may use.
        threads: of a rank.
    """
    needed = {cores: min(threads, len(cores)) * usable.count(cores) for cores in {*usable}}
    all_cores = set().union(*usable)
    lacking = [cores_needed - len(cores) for cores, cores_needed in needed.items()]
    return max(sum(needed.values()) - len(all_cores), *lacking)


def _about_counters(record: dict[str, Any]) -> Iterator[str]:
    """Warnings about counters that cannot be read, and about the cost of those that were."""
    papi = [meter for meter in record["meters"] if meter["source"] == "papi"]
    names_by_reason: dict[str, list[str]] = {}
    for meter in papi:
        if meter["status"] != "ok" and "phase" not in meter:
            names_by_reason.setdefault(meter["reason"], []).append(meter["name"])
    for reason, names in names_by_reason.items():
        yield f"counters: {', '.join(names)} cannot be read: {reason}"
    if any(meter["status"] == "ok" for meter in papi):
        yield (
            "counters were read at the seams of every cycle: times are longer than without, see"
            " timing.counter_overhead"
        )


def _about_dry_run(rank_alone: dict[str, Any] | None) -> Iterator[str]:
    """Warnings about what was made up for a rank that ran alone; None for a run of all ranks."""
    if not rank_alone:
        return
    if rank_alone["spikes"] != "exact":
        yield (
            "dry run: neurons of other ranks whose spikes are not known fire at equal"
            f" intervals, {rank_alone['rate_hz']:.10g} spikes/s, by chance"
        )
    if rank_alone["routes"] != "exact":
        yield "dry run: where the spikes of this rank go was drawn, with the right probabilities"

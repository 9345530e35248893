"""What a reader should be wary of, the most severe first: warnings of single runs and of all runs."""

import re

from spikemark import machines
from spikemark.quantities.words import counted, percent
from spikemark.records.agreement import broken
from spikemark.records.cases import COMPARED, View
from spikemark.records.gather import OVERSUBSCRIBED, SIMULATED, Measured, Sweep
from spikemark.records.order import at_once, beside_others, one_job_per_run, out_of_order
from spikemark.records.run_files import LAUNCH

from .merging import NUMBER, merged

COSTLY_TIMERS = 0.02  # share of the run spent reading the clock that deserves a warning
CHECKSUMS = "different checksums"
BESIDE = "beside others"
ORDER = "order"
ODD = "odd value"
CLOCK = "reading the clock"
EDITED = "edited since"
MIXED = "mixed"
DIRTY = "uncommitted changes"
LEFT_OUT = "not in the figures"
LOST = "lost"
OTHERS = ""  # place of warnings that this file does not know
SEVERITY = (
    *(CHECKSUMS, EDITED, SIMULATED, ODD, OVERSUBSCRIBED, "active waiting", "bound too tightly"),
    *("shared cores", "foreign load", "stolen time", "passive waiting", BESIDE, ORDER),
    *(CLOCK, OTHERS, MIXED, DIRTY, LOST, LEFT_OUT, "virtual machine"),
)
# Beginning of a run's warning -> what it means for the times; {} is the largest number in the warnings.
LOADS = {
    OVERSUBSCRIBED: "measured with more threads than cores: the times are no evidence of speed",
    "active waiting": "measured with threads that kept each other from working while they waited: the times "
    "are no evidence of speed",
    "bound too tightly": "measured with ranks bound to fewer cores than they have threads: the times are no "
    "evidence of speed",
    "shared cores": "measured with ranks that shared cores although their node had enough: the times are no "
    "evidence of speed",
    "foreign load": "measured while other processes kept up to {} cores busy: compare with care",
    "stolen time": "measured while the hypervisor took up to {} cores away: compare with care",
    "passive waiting": "measured with threads that slept while they waited: waiting is longer than usual",
}


def cautions(view: View) -> list[str]:
    """Returns one line per warning, by severity; warnings of the runs come with the number of runs."""
    sweep, total = view.sweep, len(view.sweep.runs)
    found = [
        f"{text} ({'all runs' if count == total else f'{count} of {total} runs'})"
        for text, count in merged([m.warnings for m in sweep.runs])
    ]
    if sweep.simulated:
        found.append(_simulated(sweep))
        found += [f"{ODD} of the machine's profile: {line}" for line in _odd_values(sweep)]
    differing = len(broken(sweep))
    if differing:
        found.append(
            f"{CHECKSUMS}: the runs of {counted(differing, 'network')} did not compute the same thing, so at "
            "least one of them is wrong"
        )
    if sweep.edited:
        found.append(f"{EDITED}: {sweep.edited}")
    if view.left_out:
        found.append(_left_out(view))
    if view.crowded:
        found.append(
            f"{LEFT_OUT}: {counted(view.crowded, 'run')} with more ranks × threads than cores, whose counts "
            "are valid, but whose times are no evidence of speed"
        )
    if lost := len(sweep.unlaunched):
        found.append(
            f"{LOST}: {LAUNCH} of {lost} of {counted(total, 'run')}, so their launcher, job and beginning are"
            " unknown"
        )
    found += _conduct(sweep)
    costly = max((m.run.record.timing.timer_overhead for m in sweep.runs), default=0)
    if costly > COSTLY_TIMERS:
        found.append(f"{CLOCK} took up to {percent(costly, 1)} of a run")
    for what, read in (
        ("commits", lambda m: m.run.record.provenance.commit),
        ("compilers or flags", lambda m: (m.run.record.provenance.compiler, m.run.record.provenance.flags)),
        ("MPI libraries", lambda m: m.run.record.provenance.mpi_library),
        ("machines", lambda m: m.run.cluster or m.run.record.host.name),
        ("models of processors", lambda m: m.run.cpus),
        ("frequency governors", governors),
    ):
        distinct = len({read(m) for m in sweep.runs})
        if distinct > 1:
            found.append(f"{MIXED} {what}: the runs come from {distinct} different ones")
    dirty = sum(m.run.record.provenance.dirty is True for m in sweep.runs)
    if dirty:
        found.append(f"{DIRTY} in the source of {dirty} of {counted(total, 'run')}")
    return sorted(found, key=_severity)


def _left_out(view: View) -> str:
    """Says which runs are in no figure, and which schedules with them."""
    schedules = {m.configuration.name for m in view.left_out}
    schedules -= {c.name for c in view.case.configurations()}
    words = f"{LEFT_OUT}: {counted(len(view.left_out), 'run')}, which differ from the others in more than "
    words += f"ranks, seed, repetition and {', '.join(name.replace('_', ' ') for name in COMPARED)}; "
    if schedules:
        words += f"with them, the schedules {', '.join(sorted(schedules))} are in no figure; "
    return words + (
        "the table of runs lists them, Speed shows those with other numbers of threads, and Growth of cost "
        "shows the doublings"
    )


def _conduct(sweep: Sweep) -> list[str]:
    """Says which runs ran beside others, and whether the planned order was kept."""
    found, total = [], len(sweep.runs)
    if together := len(beside_others(sweep)):
        found.append(
            f"{BESIDE}: {together} of {counted(total, 'run')} ran beside others, which used one of their "
            "nodes at the same time: compare with care"
        )
    if kept := order_not_kept(sweep):
        why = ", since each run was a job of its own" if one_job_per_run(sweep) else ""
        found.append(
            f"{ORDER}: the planned order was not kept{why}: {kept}, so a change of the machine with time may "
            "pass for an effect of what was varied"
        )
    return found


def order_not_kept(sweep: Sweep) -> str:
    """Deviations from the planned order, in which one run follows another; empty if there are none."""
    moved, together = 0 if sweep.simulated else out_of_order(sweep), len(at_once(sweep))
    parts = [f"{counted(moved, 'run')} of {len(sweep.runs)} began out of turn"] if moved else []
    parts += [f"{counted(together, 'run')} ran at the same time as others"] if together else []
    return " and ".join(parts)


def governors(m: Measured) -> tuple[str, ...] | None:
    """The frequency governors of the nodes of a run, each once; None where no node tells."""
    nodes = m.run.record.host.per_node or []
    return tuple(sorted({node.governor for node in nodes if node.governor})) or None


def strongest_load(runs: list[Measured]) -> str | None:
    """Returns as a clause what disturbed the times of `runs` most; None if no run warns of load."""
    warnings = [text for m in runs for text in m.warnings]
    for beginning, clause in LOADS.items():
        texts = [text for text in warnings if text.startswith(beginning)]
        if texts:
            numbers = [x for text in texts for x in re.findall(NUMBER, text)]
            return clause.format(max(numbers, key=float, default="some"))
    return None


def _simulated(sweep: Sweep) -> str:
    """Says what the times on a page about simulated runs are."""
    names = sorted({m.planned.machine.name for m in sweep.runs if m.simulated}) or [sweep.machine]
    return (
        f"{SIMULATED}: spikes and messages are those of the real program; times are those of a machine that "
        f"SimGrid simulates from the profile {', '.join(map(machines.title, names))}; no time on this page "
        "was read from a clock of that machine"
    )


def _odd_values(sweep: Sweep) -> list[str]:
    """The values that no machine is likely to have, of the profiles that were simulated; each once."""
    found = (m.simulation.get("odd_values", []) for m in sweep.runs if m.simulation)
    return list(dict.fromkeys(line for lines in found for line in lines))


def _severity(text: str) -> int:
    known = [i for i, beginning in enumerate(SEVERITY) if beginning and text.startswith(beginning)]
    return known[0] if known else SEVERITY.index(OTHERS)

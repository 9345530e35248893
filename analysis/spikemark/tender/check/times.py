"""Do the times of one repetition fit together: phases, timers, and the clocks of the system?"""

from __future__ import annotations

import math

from .findings import Report
from .reading import Unusable
from .record import Repetition, drawn, seconds_of

ROUNDING = 1e-6  # relative, of numbers that a record states twice
CLOCK_SLACK_S = 0.02  # between two readings of different clocks
LATE_S = 60.0  # by which clocks of different computers may differ
READS = (2, 12)  # of the clock in a cycle, and this many more for each lane
WARM = 0.5  # least time of a warm-up cycle, by that of a quick one of the measured part
PAUSE_S = 0.1  # by which a pause may last longer than asked for, or begin later
NOISE = 1e-4  # least coefficient of variation of the compute times of a rank
BARRIERS = ("synchronise", "overlap_wait", "exchange")
#: The phases of a cycle, in their order; a record may lack some.
PHASES = (
    "deliver",
    "update",
    "thread_wait",
    "inject",
    "collocate",
    "synchronise",
    "exchange",
    "overlap_wait",
)
NOISY, MOST_NOISY = 4096, 64  # cycles and ranks whose compute times must vary


def close(a: float, b: float, share: float, slack: float = 0.0) -> bool:
    """True if two numbers differ by at most `share` of the larger one and `slack`."""
    return abs(a - b) <= share * max(abs(a), abs(b)) + slack


def check_times(one: Repetition, tolerances: dict, report: Report) -> None:
    """Checks everything but the waiting; reads all of cycles.npy and keeps its sums in `one.sums`."""
    where, timing = f"{one.folder}/record.json", one.record["timing"]
    _check_factor(one, where, report)
    _check_clock(one, tolerances["clock"], where, report)
    _check_timer(one, where, report)
    if list(one.record["phases"]) != [name for name in PHASES if name in one.record["phases"]]:
        text = (
            f"phases={', '.join(one.record['phases'])[:200]}: allowed are {', '.join(PHASES)}, in this order"
        )
        report.say("phases", where, text)
        one.times = None
    if one.times is None or one.ranks is None:
        return
    try:
        sums = [one.times.sums(rank) for rank in range(one.times.ranks)]
    except Unusable as why:
        report.say("cycles form", f"{one.folder}/cycles.npy", str(why))
        one.times = None
        return
    for rank, (_, good) in enumerate(sums):
        for phase, fine in zip(one.record["phases"], good):
            if not fine:
                report.say(
                    "cycles form",
                    f"{one.folder}/cycles.npy",
                    f"phase {phase} of rank {rank} holds what is no time; allowed are numbers >= 0",
                )
                one.times = None
    if one.times is None:
        return
    one.sums = [totals for totals, _ in sums]
    slack = tolerances["phase_sum"] * timing["simulate_s"]
    for rank, totals in enumerate(one.sums):
        said = one.ranks[rank]["simulate_s"]
        if not close(sum(totals), said, 0, slack):
            report.say(
                "phase sum",
                f"{one.folder}/cycles.npy",
                f"rank {rank}: phases add up to {sum(totals):.6g} s; ranks.csv says {said:.6g} s",
            )
    _check_summary(one, slack, where, report)
    spent = [sum(totals) for totals in one.sums]
    apart = max(spent) - min(spent)
    if apart > tolerances["clock"] * timing["simulate_s"] + CLOCK_SLACK_S:
        report.say(
            "together",
            f"{one.folder}/cycles.npy",
            f"ranks begin and end together, and their times differ by {apart:.4g} s",
        )
    _check_noise(one, where, report)


def _check_factor(one: Repetition, where: str, report: Report) -> None:
    timing, time = one.record["timing"], one.record["description"]["time"]
    said = []
    if not close(timing["real_time_factor"], timing["simulate_s"] / timing["model_s"], ROUNDING):
        said.append(
            f"timing.real_time_factor={timing['real_time_factor']:.6g}: simulate_s / model_s is"
            f" {timing['simulate_s'] / timing['model_s']:.6g}"
        )
    if not close(1e3 * timing["model_s"], time["simulate_ms"], ROUNDING):
        said.append(f"timing.model_s={timing['model_s']}: time.simulate_ms is {time['simulate_ms']}")
    cycle = time.get("cycle_ms", time.get("resolution_ms", 0.1))
    if not close(timing["cycles"], time["simulate_ms"] / cycle, ROUNDING):
        said.append(
            f"timing.cycles={timing['cycles']}: simulate_ms / cycle_ms is {time['simulate_ms'] / cycle:.9g}"
        )
    if one.ranks is not None:
        slowest = max(rank["simulate_s"] for rank in one.ranks)
        if not close(slowest, timing["simulate_s"], ROUNDING):
            said.append(f"timing.simulate_s={timing['simulate_s']:.6g}: the slowest rank has {slowest:.6g}")
    for line in said:
        report.say("factor", where, line)


def _check_clock(one: Repetition, share: float, where: str, report: Report) -> None:
    timing, launch = one.record["timing"], one.launch
    if one.span is None:
        report.say("clocks", where, "timing.simulate_started_s or simulate_ended_s is null in a measured run")
        return
    first, last = one.span
    if not close(last - first, timing["simulate_s"], share, CLOCK_SLACK_S):
        report.say(
            "clocks",
            where,
            f"the system clock saw {last - first:.6g} s; timing.simulate_s={timing['simulate_s']:.6g}",
        )
    step = abs(timing.get("clock_step_s") or 0.0)
    if step > share * timing["simulate_s"] + CLOCK_SLACK_S:
        text = f"timing.clock_step_s={step:.4g}: the system clock was set during the run; measure it again"
        report.say("clocks", where, text)
    slack = CLOCK_SLACK_S + step
    started = seconds_of(one.record["provenance"]["started"])
    pause, after = timing.get("idle_before_s"), timing.get("idle_after_s")
    paused = pause[1] - pause[0] if pause else 0.0
    order = []
    if first < started + timing["build_s"] + paused - slack:
        order.append("the measured part begins before the program was started and had built the network")
    if pause and not pause[0] <= pause[1] <= first + slack:
        order.append("the pause before the run is not before it")
    asked = one.record["description"]["record"].get("idle_pause_s")
    if isinstance(asked, (int, float)) and paused > 1.1 * asked + 10 * PAUSE_S:
        order.append(f"the pause before the run took {paused:.3g} s; record.idle_pause_s is {asked:g}")
    if after and not last - slack <= after[0] <= min(after[1], last + PAUSE_S + share * (last - first)):
        order.append("the pause after the run does not follow it at once")
    began, wall = launch.get("began_s"), launch.get("wall_s")
    if began is not None and began > started + 1 + slack:
        order.append("the program was started before launch.json says so")
    ended = after[1] if after else last
    if began is not None and wall is not None and began + wall < ended - slack:
        order.append("the program goes on after launch.json says that it ended")
    if wall is not None and wall + slack < timing["build_s"] + paused + timing["simulate_s"]:
        order.append(f"build, pause and run take longer than the {wall:.4g} s of launch.json")
    for line in order:
        report.say("order of clocks", where, line)


def _check_warm_up(one: Repetition, quick_s: float, where: str, report: Report) -> None:
    """Checks that there was time for the warm-up, whose cycles take about as long as quick ones do."""
    if one.span is None:
        return
    time, timing = one.record["description"]["time"], one.record["timing"]
    cycle = time.get("cycle_ms", time.get("resolution_ms", 0.1))
    least = WARM * quick_s * time.get("warmup_ms", 0) / cycle
    pause = timing.get("idle_before_s")
    if pause:
        left = one.span[0] - pause[1]
    else:
        started = seconds_of(one.record["provenance"]["started"])
        left = (
            one.span[0] - max(started, one.launch.get("began_s") or 0.0) - timing["build_s"] + CLOCK_SLACK_S
        )
    if left < least:
        text = f"{left:.3g} s were left for the warm-up, which takes {least:.3g} s at least"
        report.say("warm-up", where, text)


def check_created(created: str, where: str, spans: list, report: Report) -> None:
    """Checks that an answer was put together after its last repetition; `spans` are their begins and ends."""
    at = seconds_of(created)
    if at is None:
        report.say("form", where, "created is no date")
    elif spans and max(last for _, last in spans) > at + LATE_S:
        report.say("order of clocks", where, f"created={created}: a repetition ends later")


def _check_timer(one: Repetition, where: str, report: Report) -> None:
    timing = one.record["timing"]
    if timing["clock"] not in ("time stamp counter", "clock_gettime"):
        report.say("timer", where, f"timing.clock={timing['clock']!r}: no clock of a measured run")
    elif timing["timer_read_s"] <= 0:
        report.say("timer", where, "timing.timer_read_s is 0: reading a clock takes time")
    else:
        reads = timing["timer_overhead"] * timing["simulate_s"] / timing["timer_read_s"] / timing["cycles"]
        low, high = READS
        if not low <= reads <= high + 3 * len(one.record["lanes"]):
            report.say("timer", where, f"timing.timer_overhead stands for {reads:.3g} readings in a cycle")


def _check_summary(one: Repetition, slack: float, where: str, report: Report) -> None:
    told = one.record["timing"]["phases"]
    for place, phase in enumerate(one.record["phases"]):
        values = [totals[place] for totals in one.sums]
        found = {"mean_s": sum(values) / len(values), "max_s": max(values)}
        said = told.get(phase, {"mean_s": None, "max_s": None})
        for name, value in found.items():
            if said[name] is None or not close(said[name], value, ROUNDING, slack):
                report.say(
                    "phases",
                    where,
                    f"timing.phases.{phase}.{name}={said[name]}: cycles.npy gives {value:.6g}",
                )
        if phase == "thread_wait":
            for rank, line in enumerate(one.ranks):
                if line["thread_wait_s"] is not None and not close(
                    line["thread_wait_s"], values[rank], 0, slack
                ):
                    report.say("phases", f"{one.folder}/ranks.csv", f"thread_wait_s of rank {rank}")


def compute_of(one: Repetition, rank: int, first: int, cycles: int) -> list:
    """Compute time in s of each cycle of a stretch: all phases before ranks meet."""
    width = len(one.record["phases"])
    own = [p for p, name in enumerate(one.record["phases"]) if name not in BARRIERS]
    block = one.times.block(rank, first, cycles)
    return [sum(parts) for parts in zip(*(block[p::width] for p in own))]


def _check_noise(one: Repetition, where: str, report: Report) -> None:
    cycles = min(one.times.cycles, NOISY)
    if cycles < 100:
        return
    first = int(drawn(str(one.sums), 0) * (one.times.cycles - cycles))
    step = max(1, one.times.ranks // MOST_NOISY)
    try:
        block = one.times.block(0, one.times.cycles - cycles, cycles)
        computes = {rank: compute_of(one, rank, first, cycles) for rank in range(0, one.times.ranks, step)}
    except Unusable:
        return
    width = len(one.record["phases"])
    whole_cycles = sorted(sum(block[i : i + width]) for i in range(0, len(block), width))
    _check_warm_up(one, whole_cycles[cycles // 10], where, report)
    for rank, compute in computes.items():
        mean = sum(compute) / cycles
        spread = math.sqrt(sum((c - mean) ** 2 for c in compute) / cycles)
        if spread <= NOISE * mean:
            text = f"compute times of rank {rank} vary by {spread:.2g} s around {mean:.3g} s"
            report.say("no noise", f"{one.folder}/cycles.npy", f"{text}; measured ones vary more")

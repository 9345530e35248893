"""Does the waiting follow from the compute times: no rank leaves an exchange before the last one has come.

Ranks have no common clock, but their times add up to the course of each. In a lane of all ranks, rank m
leaves the exchange of window k at l[m, k] and no rank j has sent what is due later than that: with a lag L,

    l[m, k] >= s[j, k - L]    for all m, j, k

s being the times at which ranks come to the exchange. Courses begin at unknown offsets. They are chosen so
that this holds as well as it can between each rank and rank 0. What is left of a violation is impossible, and
it is compared with the time that was waited. Only some stretches of a long run are looked at, and some ranks.
Nobody can choose them: they follow from all times.
"""

from __future__ import annotations

from .findings import Report
from .reading import Unusable
from .record import Repetition, drawn

MOST = 250_000  # times of one rank in one cycle that are looked at
MOST_RANKS = 256
WINDOWS = 64  # of a stretch, at least
NEARLY_ALL = 0.99  # offsets allow this share of the windows; the rest may be disturbed
LITTLE = 0.02  # of the time; waiting that is less counts as this


def check_waiting(one: Repetition, tolerance: float, report: Report) -> None:
    """Checks every lane that connects all ranks. Notes where there is none."""
    if one.times is None or not one.sums or one.record["ranks"] == 1:
        return
    lanes = [lane for lane in one.record["lanes"] if lane["ranks"] == one.record["ranks"]]
    if not lanes:
        report.note(f"{one.folder}: no lane connects all ranks; their waiting was not checked")
    for lane in lanes:
        try:
            violated, waited = _violations(one, lane)
        except Unusable as why:
            report.say("cycles form", f"{one.folder}/cycles.npy", str(why))
            return
        if violated > tolerance * waited:
            report.say(
                "waiting",
                f"{one.folder}/cycles.npy",
                f"lane {plain_name(lane)}: ranks leave before the last one has come, by"
                f" {violated / waited:.2g} of the time that they wait; allowed are {tolerance:g}",
            )


def plain_name(lane: dict) -> str:
    """The name of a lane, of reasonable length."""
    return lane["name"][:40]


def _violations(one: Repetition, lane: dict) -> tuple:
    """(impossible, waited) times in s over the stretches that are looked at."""
    times, period, lag = one.times, lane["period"], lane["lag"]
    step = max(1, -(-times.ranks // MOST_RANKS))
    text = str(one.sums)
    ranks = [
        min(times.ranks - 1, r + int(drawn(f"rank {text}", r) * step)) for r in range(0, times.ranks, step)
    ]
    length = max(512, WINDOWS * period)
    if lag:  # ranks may lead by windows, so that only a long stretch tells
        length = max(length, MOST // len(ranks))
    length = min(times.cycles - 1, length)
    count = max(1, min(MOST // (length * len(ranks)), times.cycles // max(length, 1)))
    violated = waited = 0.0
    apart = (times.cycles - 1 - length) // count if count > 1 else 0  # of the begins of stretches
    free = times.cycles - 1 - length - apart * (count - 1)
    for n in range(count):
        first = n * apart + int(drawn(text, n) * (free + 1))
        courses = [_course(one, lane, rank, first, length) for rank in ranks]
        some = _impossible([c[0] for c in courses], [c[1] for c in courses], lag)
        violated += some
        waited += sum(max(c[2], LITTLE * c[3]) for c in courses)
    return violated, waited


def _course(one: Repetition, lane: dict, rank: int, first: int, length: int) -> tuple:
    """(when a rank comes to each exchange, when it leaves, time waited, time in all) in a stretch, s."""
    phases, others = one.record["phases"], one.record["lanes"]
    width = len(phases)
    block = one.times.block(rank, first, length)
    columns = {name: block[p::width] for p, name in enumerate(phases)}
    nothing = [0.0] * length
    sync, exchange, overlap = (
        columns.pop(name, nothing) for name in ("synchronise", "exchange", "overlap_wait")
    )
    compute = [sum(parts) for parts in zip(*columns.values())] if columns else nothing
    earlier = [o["period"] for o in others if o is not lane]  # exchanges that may come before the barrier
    comes, leaves, at, period = [], [], 0.0, lane["period"]
    for i in range(length):
        at += compute[i]
        after = at + sync[i] + exchange[i] + overlap[i]
        if (first + i + 1) % period == 0:
            alone = all((first + i + 1) % other for other in earlier)
            comes.append(at)
            leaves.append(at + sync[i] if alone and not lane["lag"] else after)
        at = after
    return comes, leaves, sum(sync) + sum(overlap), at


def _impossible(comes: list, leaves: list, lag: int) -> float:
    """Time in s by which ranks leave before others have come, [rank][window]."""
    windows = len(comes[0]) - lag
    if windows < 2:
        return 0.0
    comes, leaves = [c[:windows] for c in comes], [one[lag:] for one in leaves]
    place = min(windows - 1, int(NEARLY_ALL * windows))
    offsets = [0.0]
    for m in range(1, len(comes)):
        low = sorted(c - out for c, out in zip(comes[0], leaves[m]))[place]
        high = -sorted(c - out for c, out in zip(comes[m], leaves[0]))[place]
        offsets.append((low + high) / 2)
    found = 0.0
    for k in range(windows):
        last = max(c[k] + offset for c, offset in zip(comes, offsets))
        found += sum(max(0.0, last - out[k] - offset) for out, offset in zip(leaves, offsets))
    return found

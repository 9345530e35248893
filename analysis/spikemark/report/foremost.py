"""What matters most for the waiting in the runs of a configuration: the slow rank, and what would help."""

from collections import Counter
from collections.abc import Sequence

from spikemark.quantities.words import counted, percent
from spikemark.waiting.slowest import Slowest
from spikemark.waiting.verdicts import MATTERS, best
from spikemark.waiting.whatif import Outcome


def slow_rank(label: str, found: Sequence[Slowest], kind: str) -> list[str]:
    """Names the rank that is surely the slowest in most runs and causes much of the waiting; else nothing.

    `label` names configuration and ranks, `kind` is that of the compute times.
    """
    seen = Counter((one.rank, one.node) for one in found if one.certain and one.share.value >= MATTERS)
    if not seen:
        return []
    (rank, node), times = seen.most_common(1)[0]
    if 2 * times <= len(found):
        return []
    own = [one for one in found if (one.rank, one.node) == (rank, node)]
    share, longer = (sum(getattr(one, name).value for one in own) / len(own) for name in ("share", "longer"))
    who = f"rank {rank} on {node}" if node else f"rank {rank}"
    return [
        f"{label[0].upper()}{label[1:]}: {who} causes {percent(share)} of the waiting (modelled), since it"
        f" computes {percent(longer, 1)} longer than the other ranks do ({kind}). This holds in {times} of"
        f" {counted(len(found), 'run')}."
    ]


def most_helpful(where: str, found: Sequence[list[Outcome]]) -> list[str]:
    """Says which single change shortens conventional runs most; `found` has the outcomes of every run."""
    chosen = [one for one in (best(outcomes) for outcomes in found) if one is not None]
    if not chosen:
        return []
    name, times = Counter(name for name, _ in chosen).most_common(1)[0]
    falls = [fall for other, fall in chosen if other == name]
    if not all(fall.low > 0 for fall in falls):
        return [f"On {where}, no single change is sure to shorten the conventional runs (modelled)."]
    low, high = percent(min(f.low for f in falls), 1), percent(max(f.high for f in falls), 1)
    return [
        f"On {where}, {name} would help the conventional schedule most, in {times} of"
        f" {counted(len(found), 'run')}: the run time would fall by {low} to {high} (modelled by replay)."
    ]

"""Calls on files that fail, one after another, in every subject."""

import random
from collections.abc import Callable

from .interposed import ALL, ERRORS, KILL, SLOW, TAKE_ROOM, Fault
from .tries import Bench, Outcomes

SEED = 1  # of the calls that are drawn where there are too many


def places(calls: int, most: int, seed: int = SEED) -> list[int]:
    """Numbers of calls from 1 on: all, or `most` of them drawn at random, ascending."""
    if calls <= most:
        return [*range(1, calls + 1)]
    return sorted(random.Random(seed).sample(range(1, calls + 1), most))


def one_fails(bench: Bench, most: int) -> Outcomes:
    """A single call fails, with the errors in turn."""
    found = Outcomes()
    for turn, n in enumerate(places(len(bench.calls), most)):
        bench.tried(Fault(ERRORS[turn % len(ERRORS)], str(bench.place), n), found)
    return found


def killed(bench: Bench, most: int) -> Outcomes:
    """The process that makes the call is killed, a write having written half."""
    found = Outcomes()
    for n in places(len(bench.calls), most):
        bench.tried(Fault(KILL, str(bench.place), n), found)
    return found


def full(bench: Bench, most: int) -> Outcomes:
    """The disk is full from a call on."""
    found = Outcomes()
    for n in places(len(bench.calls_of(TAKE_ROOM)), most):
        bench.tried(Fault("ENOSPC", str(bench.place), n, ALL, TAKE_ROOM), found)
    return found


def read_only(bench: Bench, most: int) -> Outcomes:
    """The disk is read-only from a call on."""
    found, kinds = Outcomes(), (*TAKE_ROOM, "remove")
    for n in places(len(bench.calls_of(kinds)), min(most, 8)):
        bench.tried(Fault("EROFS", str(bench.place), n, ALL, kinds), found)
    return found


def slow(bench: Bench, most: int) -> Outcomes:
    """Every call takes 20 ms more; only a whole result is right then."""
    found = Outcomes()
    bench.tried(Fault(SLOW, str(bench.place), 1, ALL), found)
    found.only_whole(f"{bench.subject.name}: not whole on a slow disk")
    return found


#: What is done to calls, by the words of the table.
WAYS: dict[str, Callable[[Bench, int], Outcomes]] = {
    "one call fails": one_fails,
    "killed at a call": killed,
    "disk full from a call on": full,
    "disk read-only from a call on": read_only,
    "slow disk": slow,
}

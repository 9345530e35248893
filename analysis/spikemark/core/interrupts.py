"""Signals that interrupt a command: the first one ends it, later ones are only counted.

Nothing else is imported here, since every command needs it before it begins.
"""

import signal

#: Signals that ask a command to end.
SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: The signals that `interruptible` has received, in their order.
received: list[int] = []


class _Waiting:
    """An interruption that waits, since a program is just being started."""

    holders = 0  #: how many threads are starting a program
    is_pending = False  #: whether a signal came meanwhile


def interruptible() -> None:
    """Has the first SIGINT or SIGTERM raise KeyboardInterrupt, also where a shell had them ignored.

    Later ones only count as `received`. Linux sends a child its signal for every thread of a killed
    parent, and a second KeyboardInterrupt would cut short the ending of what the child has started
    itself.

    Example:
        >>> before = {number: signal.getsignal(number) for number in SIGNALS}
        >>> interruptible()
        >>> signal.getsignal(signal.SIGTERM) is _interrupt
        True
        >>> for number, action in before.items():
        ...     _ = signal.signal(number, action)
    """
    for number in SIGNALS:
        signal.signal(number, _interrupt)


def hold() -> None:
    """Lets an interruption wait until `release`.

    Else one that comes while a program is started would leave the program behind: nobody would know
    it yet.

    Example:
        >>> hold()
        >>> release()  # nothing came
    """
    _Waiting.holders += 1


def release() -> None:
    """Ends what `hold` began; raises KeyboardInterrupt if an interruption came meanwhile.

    Example:
        >>> hold()
        >>> release()
    """
    _Waiting.holders -= 1
    if _Waiting.is_pending and _Waiting.holders == 0:
        _Waiting.is_pending = False
        raise KeyboardInterrupt


def _interrupt(number: int, _: object) -> None:
    first = not received  # before the next one, which may come within this function
    received.append(number)
    if not first:
        return
    if _Waiting.holders:
        _Waiting.is_pending = True
    else:
        raise KeyboardInterrupt

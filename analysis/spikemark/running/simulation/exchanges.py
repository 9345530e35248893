"""The exchange of a lane with a lag in a simulated run whose description names none.

By default the mini-app uses `ialltoallv` there, which polls for messages (MPI_Test), and every poll costs
SimGrid time: 64 ranks x 500 cycles took over ten minutes. `direct` waits for the next message and takes a
minute. Spikes are the same with every exchange; the messages that carry them are not.
"""

from typing import Any

from spikemark.network import lanes
from spikemark.network.description import read

DIRECT = "direct"


def used(description: dict[str, Any], ranks: int) -> list[str]:
    """The names of the exchanges of all lanes in which ranks meet. Raises BadInput as `chosen` does."""
    described = read(description)
    found = lanes.read(described, ranks, *lanes.chosen(described, None, None))
    return [name for lane in found if not lane.alone for name in lane.exchanges]


def chosen(description: dict[str, Any], ranks: int) -> tuple[dict[str, Any], list[str]]:
    """The description with an exchange for every lane that has a lag, and a line that says what was chosen.

    Raises BadInput for a description that cannot be run.
    """
    described = read(description)
    used = lanes.read(described, ranks, *lanes.chosen(described, None, None))
    given = described.exchange
    if not isinstance(given, dict) or "name" in given:  # it is named for all lanes
        return description, []
    late = [lane.name for lane in used if lane.lag and not lane.alone and not named(given.get(lane.name))]
    if not late:
        return description, []
    names = f"lane {late[0]}" if len(late) == 1 else f"lanes {', '.join(late)}"
    line = (
        f"exchange = {DIRECT!r} for {names}: none is named, and SimGrid takes many times as long for "
        "ialltoallv"
    )
    return {**description, "exchange": {**given, **dict.fromkeys(late, DIRECT)}}, [line]


def named(exchange: Any) -> bool:
    """True if the field `exchange` of a lane names an exchange."""
    return bool(exchange.get("name") if isinstance(exchange, dict) else exchange)

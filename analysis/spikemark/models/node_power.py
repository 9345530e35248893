"""Power of a node by its busy cores, with a step when the first core of a socket wakes.

    P = idle + sockets awake x socket + b x core(b) + cards in use x card
    1 / core(b) = (1 - x) / alone + x / core,  x = (b - 1) / (cores - 1)

A socket that has one busy core keeps its shared parts awake (caches, memory controller, links), so
that the first core costs more than the others: in Simula et al. 2019, Table II, one core draws 48 W
above the baseline, and two cores 62 W. A core alone, with the highest clock and all bandwidth for
itself, draws more than one of b busy cores: there, 8 cores draw 124 W and 16 cores 166 W. Power
grows with b, and is b x core for the full node. Ranks fill one socket after the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


def sockets_awake(busy: int, cores: int, sockets: int) -> int:
    """Sockets of a node with a busy core, if one is filled after the other.

    Args:
        busy: cores that compute.
        cores: of the node.
        sockets: of the node.

    Example:
        >>> [sockets_awake(busy, cores=16, sockets=2) for busy in (0, 1, 8, 9, 16)]
        [0, 1, 1, 2, 2]
    """
    return min(-(-busy * sockets // cores), sockets)


START_W = 5.0  #: of each part, where the fit begins


@dataclass(frozen=True)
class NodePower:
    """What the parts of a node draw: numbers or draws, in W."""

    idle_w: Any  #: of the idle node
    socket_w: Any  #: added by the first busy core of a socket
    core_w: Any  #: added by every core of a busy node
    card_w: Any = 0.0  #: added by every card in use
    core_alone_w: Any = None  #: added by a core that alone is busy; None: as much as any

    def watts(self, busy: int, cores: int, sockets: int, cards: int = 0) -> Any:
        """Power of a node with so many busy cores, W.

        Example:
            >>> NodePower(100.0, 40.0, 5.0).watts(busy=9, cores=16, sockets=2)
            225.0
        """
        awake = sockets_awake(busy, cores, sockets)
        cores_w = busy * self.of_core_w(busy, cores)
        return self.idle_w + awake * self.socket_w + cores_w + cards * self.card_w

    def of_core_w(self, busy: int, cores: int) -> Any:
        """Power of each of so many busy cores, W.

        Example:
            >>> power = NodePower(100.0, 40.0, 5.0, core_alone_w=15.0)
            >>> [round(power.of_core_w(busy, cores=16), 1) for busy in (1, 4, 16)]
            [15.0, 10.7, 5.0]
        """
        if self.core_alone_w is None or cores == 1:
            return self.core_w
        share = (busy - 1) / (cores - 1)
        return 1 / ((1 - share) / self.core_alone_w + share / self.core_w)


class PowerReading(NamedTuple):
    """Power above that of idle nodes, of which each has as many busy cores."""

    nodes: int
    busy: int  #: cores of a node
    watts: float  #: of all nodes
    card: str = ""  #: kind of the card in use on each node; none where empty


def fitted(readings: Sequence[PowerReading], cores: int, sockets: int) -> dict[str, float]:
    """Power of a socket, of a core of the busy node and of one alone, and of each kind of card in
    W, by name.

    Least squares of relative errors; nothing is negative, and a core alone draws no less than
    another.

    Args:
        readings: at least as many as parts, or what is left open is arbitrary.
        cores: of a node.
        sockets: of a node.

    Example:
        >>> watts = {1: 48.0, 2: 62.0, 16: 166.0}  # by busy cores
        >>> readings = [PowerReading(1, busy, above) for busy, above in watts.items()]
        >>> parts = fitted(readings, cores=16, sockets=2)
        >>> round(parts["socket"], 1), round(parts["core"], 1), round(parts["core_alone"], 1)
        (30.5, 6.6, 17.5)
    """
    from scipy.optimize import least_squares

    cards = sorted({reading.card for reading in readings} - {""})

    def relative_errors(watts: np.ndarray) -> list[float]:
        socket, core, more_alone, *of_cards = watts
        by_card = dict(zip(cards, of_cards, strict=True))
        errors = []
        for reading in readings:
            card_w = by_card.get(reading.card, 0.0)
            power = NodePower(card_w, socket, core, core_alone_w=core + more_alone)
            modelled = reading.nodes * power.watts(reading.busy, cores, sockets)
            errors.append(modelled / reading.watts - 1)
        return errors

    start = np.full(3 + len(cards), START_W)
    socket, core, more_alone, *of_cards = least_squares(
        relative_errors, start, bounds=(0, np.inf), xtol=1e-12, ftol=1e-12, gtol=1e-12
    ).x.tolist()
    parts = {"socket": socket, "core": core, "core_alone": core + more_alone}
    return parts | dict(zip(cards, of_cards, strict=True))

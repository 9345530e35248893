"""What a machine costs over its life, for each second of model time that it simulates.

A machine of N nodes, each at a price p, is used for T seconds. It runs k simulations at a time,
each on n nodes and r seconds long for a second of model time (r is the real-time factor):

    k = floor(N / n),  simulated seconds S = k T / r,
    cost of a simulated second = N p / S + P r e,

where P is the power of the n nodes and e the price of a joule. Nodes that are left over are paid,
but use no energy here. Where an offer does not state N, a machine is the n nodes of one simulation.
Power that is offered (`offer.watts`) is a number; r has the draws of the prediction, and so have S
and the cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines import usual
from spikemark.machines.profile import Value

from .draws import Draws
from .option import Option, stated

SECONDS_PER_HOUR = 3600.0
JOULES_PER_KWH = 3.6e6
HOURS_OF_LEAP_YEAR = 8784.0
MOST_YEARS = 100.0  #: that anyone uses a machine
CURRENCY = "EUR"  #: of prices
LIKE_EUR = (CURRENCY, "CHF", "GBP", "USD")  #: worth about as much
PRICE, WATTS = "offer.price", "offer.watts"  #: fields of a profile


@dataclass(frozen=True)
class Use:
    """How long a machine is used, and what energy costs there.

    Raises BadInput for a number that is not above 0, or larger than possible.
    """

    years: float
    hours_per_year: float
    price_kwh: float | None  #: in `currency`; None: energy has no price
    currency: str = CURRENCY

    def __post_init__(self) -> None:
        check_above_0("years", self.years, MOST_YEARS)
        check_above_0("hours_per_year", self.hours_per_year, HOURS_OF_LEAP_YEAR)
        check_above_0("price_kwh", self.price_kwh)

    @property
    def seconds(self) -> float:
        """Seconds of use.

        Example:
            >>> Use(years=2, hours_per_year=100, price_kwh=None).seconds
            720000.0
        """
        return self.years * self.hours_per_year * SECONDS_PER_HOUR

    def remarks(self, verb: str) -> tuple[str, ...]:
        """A line for each number that is possible, but not usual; `verb`: who was asked.

        What energy usually costs is known in EUR, and taken for currencies of about its value.

        Example:
            >>> use = Use(years=5, hours_per_year=8000, price_kwh=30)
            >>> [remark] = use.remarks("compare")
            >>> "30 ct/kWh are 0.3 EUR/kWh" in remark
            True
        """
        stated = {
            "years": Value(self.years, "1", "assumed", "the question"),
            "hours_per_year": Value(self.hours_per_year, "h", "assumed", "the question"),
        }
        if self.price_kwh is not None and self.currency in LIKE_EUR:
            unit = f"{CURRENCY}/kWh"
            stated["price_kwh"] = Value(self.price_kwh, unit, "assumed", "the question")
        lines = usual.remarks(stated, verb)
        return tuple(line.replace(f"{CURRENCY}/kWh", f"{self.currency}/kWh") for line in lines)


def check_above_0(name: str, value: float | None, most: float | None = None) -> None:
    """Raises BadInput for a number that is given and not above 0, or above the most possible.

    Example:
        >>> check_above_0("years", 0.0, most=100.0)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: years=0.0; expected a number above 0, up to 100
    """
    expected = "a number above 0"
    if most is not None:
        expected = f"a number above 0, up to {most:g}"
    if value is None or (0 < value < float("inf") and (most is None or value <= most)):
        return
    raise BadInput(field=name, value=value, expected=expected, code="range")


@dataclass(frozen=True, eq=False)
class MachineLife:
    """What a machine simulates over its life, and what that costs; see the module."""

    option: Option  #: how it runs one simulation
    use: Use

    @property
    def nodes(self) -> int:
        """Nodes that are paid: all that are offered, or those of one simulation."""
        offered = stated(self.option.machine, "offer.nodes")
        return self.option.nodes if offered is None else round(offered)

    @property
    def simulations(self) -> int:
        """Simulations at a time."""
        return max(1, self.nodes // self.option.nodes)

    @property
    def price_of_node(self) -> float | None:
        """In EUR, as offered; None where it is not."""
        return stated(self.option.machine, PRICE)

    @property
    def simulated_s(self) -> Draws:
        """Seconds of model time over the life, of all simulations."""
        seconds: Draws = self.simulations * self.use.seconds / self.option.rtf
        return seconds

    @property
    def energy_j(self) -> Draws | None:
        """Energy of a simulated second in J; None where the power is unknown."""
        if self.option.power_w is None:
            return None
        return self.option.power_w * self.option.rtf

    @property
    def energy_eur(self) -> Draws | None:
        """Price of the energy of a simulated second; None where either is unknown."""
        if self.energy_j is None or self.use.price_kwh is None:
            return None
        return self.energy_j / JOULES_PER_KWH * self.use.price_kwh

    @property
    def price_eur(self) -> Draws | None:
        """Share of a simulated second in the price of all nodes; None where that is unknown."""
        if self.price_of_node is None:
            return None
        return self.nodes * self.price_of_node / self.simulated_s

    @property
    def cost_eur(self) -> Draws | None:
        """Cost of a simulated second: price and, where it has one, energy; None where unknown."""
        if self.price_eur is None or self.use.price_kwh is None:
            return self.price_eur
        return None if self.energy_eur is None else self.price_eur + self.energy_eur

    @property
    def missing(self) -> list[str]:
        """Fields of the profile without which the cost is unknown."""
        fields = []
        if self.price_of_node is None:
            fields.append(PRICE)
        if self.energy_j is None and self.use.price_kwh is not None:
            fields.append(WATTS)
        return fields

    def even_price(self, other_cost_eur: Draws) -> Draws | None:
        """Price of a node at which a simulated second costs as much as elsewhere, in EUR.

        Negative where it would cost more even if nodes were given away; None where the power is
        unknown and energy has a price.
        """
        left_for_nodes = other_cost_eur
        if self.use.price_kwh is not None:
            if self.energy_eur is None:
                return None
            left_for_nodes = other_cost_eur - self.energy_eur
        price: Draws = left_for_nodes * self.simulated_s / self.nodes
        return price


def share_of_least(values: Sequence[Draws]) -> list[float]:
    """In which share of the draws each of several results is the least; ties are shared.

    Example:
        >>> share_of_least([np.array([1.0, 2.0]), np.array([1.0, 3.0])])
        [0.75, 0.25]
    """
    table = np.stack(np.broadcast_arrays(*values))
    is_least = table == table.min(axis=0)
    return [float(share) for share in (is_least / is_least.sum(axis=0)).mean(axis=1)]


def least(values: Sequence[Draws]) -> Draws:
    """The least of several results, in each draw.

    Example:
        >>> least([np.array([1.0, 5.0]), np.array([3.0, 2.0])])
        array([1., 2.])
    """
    of_all: Draws = np.stack(np.broadcast_arrays(*values)).min(axis=0)
    return of_all

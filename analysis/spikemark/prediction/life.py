"""Cost of nodes and of their energy over the life of a machine that runs all the time that it is used.

These costs are figures of a prediction like those of predict.py, so that a verdict on cost rests on them.
"""

from dataclasses import dataclass, replace

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing, worst

from .node_range import Candidate
from .predict import Prediction

HOUR_YEAR = 8766.0  # hours of a year
PRICE = "price.node_hour"
NODES, ENERGY, COST = "life_nodes", "life_energy", "life_cost"


@dataclass(frozen=True)
class Life:
    """How long a machine is used, hours a year, and what a kWh costs in EUR (None: unknown).

    Raises BadInput for numbers that no machine has.
    """

    years: float = 5.0
    hours_per_year: float = 8000.0
    price_kwh: float | None = None

    def __post_init__(self) -> None:
        limits = (("years", self.years, 100.0), ("hours_per_year", self.hours_per_year, HOUR_YEAR))
        for name, value, most in limits:
            if not 0 < value <= most:
                raise BadInput(f"{name}={value:g}; allowed: above 0, up to {most:g}")
        if self.price_kwh is not None and not 0 <= self.price_kwh < float("inf"):
            raise BadInput(f"price_kwh={self.price_kwh:g}; allowed: 0 or more, in EUR")

    @property
    def hours(self) -> float:
        """Hours of use, all in all."""
        return self.years * self.hours_per_year

    def said(self) -> str:
        """The hours of use and the price in words, for a title."""
        price = "" if self.price_kwh is None else f", {self.price_kwh:g} EUR per kWh"
        return f"{self.years:g} years of {self.hours_per_year:g} hours{price}"

    @property
    def decides(self) -> str:
        """The cost that a verdict rests on: that of nodes and energy, or of nodes if the price of a kWh was
        not given."""
        return NODES if self.price_kwh is None else COST

    def of(self, c: Candidate) -> Candidate:
        """The machine with the costs over its life among the figures of all its predictions, in EUR.

        A cost is missing with a reason where the price of a node, its power or the price of energy is
        unknown; the sum is missing if one of them is.
        """
        return replace(c, tried=[self._over(p) for p in c.tried])

    def _over(self, p: Prediction) -> Prediction:
        nodes, energy = self._nodes(p), self._energy(p)
        figures = {NODES: nodes, ENERGY: energy, COST: _sum(nodes, energy)}
        moves = {
            path: replace(m, low=m.low | self._moved(m.low), high=m.high | self._moved(m.high))
            for path, m in p.moves.items()
        }
        return replace(p, figures=p.figures | figures, moves=moves)

    def _moved(self, there: dict[str, float]) -> dict[str, float]:
        """The costs where a value of the profile is at a limit."""
        found = {}
        if "cost_eur" in there:
            found[NODES] = there["cost_eur"] / there["real_time_factor"] * self.hours
        if "power_w" in there and self.price_kwh is not None:
            found[ENERGY] = 1e-3 * there["power_w"] * self.hours * self.price_kwh
        return found | ({COST: sum(found.values())} if len(found) == 2 else {})

    def _nodes(self, p: Prediction) -> Quantity:
        """EUR for the nodes: the cost of a simulated hour over the hours that it takes.

        How many nodes there must be follows from the real-time factor, so its kind counts, too.
        """
        cost, factor = p.figures["cost_eur"], p.figures["real_time_factor"].value
        if not cost:
            return replace(cost, unit="EUR")
        moved = p.moves.get(PRICE)
        ends = [cost.value] if moved is None else [moved.low["cost_eur"], moved.high["cost_eur"]]
        each = self.hours / factor
        kind = worst(("assumed" if moved is None else moved.kind, p.figures["real_time_factor"].kind))
        depends = (*(() if moved is None else (PRICE,)), *p.figures["real_time_factor"].depends)
        return Quantity(cost.value * each, min(ends) * each, max(ends) * each, "EUR", kind, depends=depends)

    def _energy(self, p: Prediction) -> Quantity:
        if self.price_kwh is None:
            return missing("the price of a kWh was not given (--price-kwh)", "EUR", mark="unknown")
        power = p.figures["power_w"]
        if not power:
            return replace(power, unit="EUR")
        return power.times(1e-3 * self.hours * self.price_kwh, "EUR")


def _sum(one: Quantity, other: Quantity) -> Quantity:
    """The sum of both and of their limits; missing if one is missing."""
    for part in (one, other):
        if not part:
            return part
    return Quantity(
        one.value + other.value, one.low + other.low, one.high + other.high, "EUR",
        worst((one.kind, other.kind)), depends=tuple(dict.fromkeys((*one.depends, *other.depends))),
    )  # fmt: skip

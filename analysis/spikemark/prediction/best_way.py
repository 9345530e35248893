"""The best exact way to run a network on each number of nodes, as `advise` finds it (advise_search.py)."""

from .advise_option import Option, layouts
from .advise_search import MOST_RANKS, Search
from .asked import Network
from .simulators import Simulator


class BestWays(Search):
    """`placement` and `each`, the ranks on a node, are open where they are None."""

    def __init__(
        self, network: Network, profile, simulator: Simulator, placement: str | None, each: int | None
    ):
        super().__init__(network, profile, None, simulator)
        self.placement, self.each = placement, [each] if each else layouts(profile)

    def on(self, nodes: int) -> Option | None:
        """The fastest way on so many nodes, of those that fit into memory; else one that does not fit.

        Ways that the released simulator does not have count where no other is possible. None where
        nothing is exact or validated; why is kept. Waiting is computed only where it can matter.
        """
        options = [
            option
            for schedule in self.schedules()
            for name in self.placements(schedule)
            for each in self.each
            if self.placement in (None, name) and (option := self._option(schedule, name, nodes, each))
        ]
        options = [o for o in options if self.version(o) == self.simulator.released] or options
        best = self._fastest_of(options)
        if best is None:
            return options[0] if options else None
        return self._with_own_ratio(self._longer_lags(best))

    def why_not(self, nodes: int) -> str:
        """What keeps most ways from so many nodes."""
        ranks = {nodes * each for each in self.each}

        def kept(why: str) -> int:
            return sum(n in ranks for refused in self.refused[why].values() for n in refused)

        return max(self.refused, key=kept, default=f"ranks={min(ranks)}: allowed is up to {MOST_RANKS}")

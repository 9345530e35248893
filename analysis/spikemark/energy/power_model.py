"""Power from parameters instead of a meter; every figure from it is labelled modelled."""

from dataclasses import dataclass, field

from spikemark.core.errors import BadInput


@dataclass(frozen=True)
class PowerModel:
    """P = idle_w + core_w x busy cores + card_w x active interconnect cards, in W.

    `sources` says for each of the three where its value comes from.
    """

    name: str
    idle_w: float
    core_w: float
    card_w: float
    sources: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("idle_w", "core_w", "card_w"):
            if not getattr(self, name) >= 0:
                raise BadInput(f"{name}={getattr(self, name)}: a power in W >= 0 is needed")

    def above_idle_w(self, busy_cores: int, cards: int = 0) -> float:
        """Power above idle in W."""
        return self.core_w * busy_cores + self.card_w * cards

    def power_w(self, busy_cores: int, cards: int = 0) -> float:
        """Power in W with so many busy cores and cards in use."""
        return self.idle_w + self.above_idle_w(busy_cores, cards)

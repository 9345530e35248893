"""The ways to cheat that are tried on the checker: CHEATS. A new one is an entry in one of the lists."""

from . import blinded, clocks, copied, counts, disclosed, energies, figures, files, rules, unseen
from .cheat import Cheat

CHEATS: tuple[Cheat, ...] = (
    *files.CHEATS,
    *rules.CHEATS,
    *counts.CHEATS,
    *clocks.CHEATS,
    *copied.CHEATS,
    *energies.CHEATS,
    *disclosed.CHEATS,
    *figures.CHEATS,
    *blinded.CHEATS,
    *unseen.CHEATS,
)

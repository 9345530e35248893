"""How much times vary from run to run: measured by repetitions, known from a history, or assumed.

All spreads are standard deviations, as shares of the time of a cycle.
"""

from dataclasses import dataclass, field

from .times import COMMUNICATING, CYCLE

#: Where nothing is known: the spread of the mean time of a run from run to run, as a share of the part
#: itself. Runs of this project on shared virtual machines varied by 1 to 5 %; waiting and exchange by more.
ASSUMED, ASSUMED_COMMUNICATING = 0.05, 0.3
#: What the runs of a session have in common where no history tells it. On a shared virtual machine, sessions
#: minutes apart differed by about 2 % (docs/diff.md); waiting and exchange as much more as from run to run.
ASSUMED_SESSIONS = 0.02
REPEATED, HISTORY, ASSUMPTION, SIMULATED = "repetitions", "history", "assumed", "simulated"
WORDS = {
    REPEATED: "the run-to-run spread is that of the repetitions (measured)",
    HISTORY: "the run-to-run spread is that of the history of this machine (measured)",
    ASSUMPTION: (
        f"the run-to-run spread is unknown and assumed: {100 * ASSUMED:g} % of the time of a cycle and of"
        f" computing, {100 * ASSUMED_COMMUNICATING:g} % of waiting and exchange"
    ),
    SIMULATED: "simulated times do not vary from run to run",
}


APART = (
    "both sides were measured one after the other, so that the machine may have changed between them by"
    f" {100 * ASSUMED_SESSIONS:g} % (assumed); make them in turns, or give the history of the machine"
)


@dataclass(frozen=True)
class Spread:
    """Variances as shares of the squared time of a cycle, and their degrees of freedom; 0 where unknown.

    `runs`: of single runs of one session. `sessions`: of what whole sessions have in common, beyond that.
    """

    runs: float = 0.0
    runs_degrees: float = 0.0
    sessions: float = 0.0
    sessions_degrees: float = 0.0


@dataclass(frozen=True)
class Known:
    """The spread of each part (`Times.parts`) on a machine, as its history tells."""

    parts: dict[str, Spread] = field(default_factory=dict)
    of: str = ""  # which entries, in words

    def of_part(self, name: str) -> Spread:
        """The spread of a part; of nothing known if the history lacks it."""
        return self.parts.get(name, Spread())


def assumed(name: str, share: float) -> float:
    """The assumed variance from run to run of the part `name`, which takes this share of the cycle."""
    if name == CYCLE:
        return ASSUMED**2
    own = ASSUMED_COMMUNICATING if name.partition(".")[2] in COMMUNICATING else ASSUMED
    return (own * share) ** 2


def assumed_sessions(name: str, share: float) -> float:
    """The assumed variance from session to session of that part, which takes this share of the cycle."""
    return assumed(name, share) * (ASSUMED_SESSIONS / ASSUMED) ** 2

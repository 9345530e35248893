"""Applications and the connections between them, as MUSIC joins them; reads the option `applications`."""

import re
from dataclasses import dataclass

from spikemark.core.errors import BadInput, shown

#: How a connection communicates: name -> exchange of the mini-app. MUSIC's collective is an allgather of
#: sizes, then of data; its point-to-point communication sends a message to each process that needs one.
COMMUNICATION = {"collective": "allgatherv", "point-to-point": "p2p"}
LABEL = r"[A-Za-z_]\w*"
_CHAIN = re.compile(rf"{LABEL}(?:\s*<?->\s*{LABEL})+", re.ASCII)


@dataclass(frozen=True)
class Application:
    """A program of a multi-simulation. `cells`: None leaves their number to the preset."""

    name: str
    processes: int
    cells: int | None = None


@dataclass(frozen=True)
class Connection:
    """A connection from the application `source` to `target`; `communication` is a name in COMMUNICATION."""

    source: str
    target: str
    communication: str

    @property
    def name(self) -> str:
        return f"{self.source}-{self.target}"


@dataclass(frozen=True)
class Wiring:
    """The applications and who sends to whom, with at most one connection from one to another."""

    applications: tuple[Application, ...]
    connections: tuple[Connection, ...]


def wire(text: str, processes: int, communication: str) -> Wiring:
    """Wiring from chains of names with arrows, "A<->B,C<->D" or "A->B->C->D"; all applications are alike.

    Raises BadInput naming the part that is no chain, or the connection that is there twice.
    """
    found: dict[tuple[str, str], Connection] = {}
    names: dict[str, None] = {}
    for chain in text.split(","):
        if not _CHAIN.fullmatch(chain.strip()):
            raise BadInput(
                f"applications={shown(text)}: {shown(chain.strip())} is not a chain; allowed are names with"
                " arrows, as A<->B or A->B->C->D, separated by commas"
            )
        first, *rest = re.split(r"\s*(<?->)\s*", chain.strip())
        for arrow, second in zip(rest[::2], rest[1::2], strict=True):
            ends = [(first, second)] if arrow == "->" else [(first, second), (second, first)]
            for pair in ends:
                if pair in found:
                    raise BadInput(
                        f"applications={shown(text)}: {pair[0]}->{pair[1]} twice; allowed is one connection"
                        " from one application to another"
                    )
                found[pair] = Connection(*pair, communication)
            names |= dict.fromkeys((first, second))
            first = second
    return Wiring(tuple(Application(name, processes) for name in names), tuple(found.values()))

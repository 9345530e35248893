"""What a cheat is."""

from collections.abc import Callable
from dataclasses import dataclass

from tender.offered import Answer


@dataclass(frozen=True)
class Cheat:
    """A way to cheat with an answer, and the reason by which it is caught, or why it cannot be seen.

    `does` says it in words. `do` changes the answer; then its figures (`tell`) and its manifest (`seal`) are
    written anew, as a clever cheater does. `reason`: a key of REASONS; `unseen`: why no checker sees it, and
    what helps. One of them is given. A cheat without `do` leaves an answer as an honest one writes it.
    """

    name: str
    does: str
    do: Callable[[Answer], None] | None
    reason: str | None = None
    unseen: str = ""
    tell: bool = True
    seal: bool = True

    def apply(self, answer: Answer) -> None:
        """Carries it out."""
        if self.do is not None:
            self.do(answer)
        if self.tell:
            answer.tell()
        if self.seal:
            answer.seal()

"""A command line with its environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .layout import Spread


@dataclass(frozen=True)
class Launch:
    """A command line, the variables that it adds to the environment, and those that it takes out of it.

    `spread` says on which nodes its ranks are started; None if that is left to the program.
    """

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    spread: Spread | None = None

    def applied(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of the program that is started in `environment`."""
        kept = {name: value for name, value in environment.items() if name not in self.removed}
        return {**kept, **self.environment}

"""What a shell offers for the values of arguments and options.

Values belong to a name: every command that has a `--schedule` offers the schedules.
"""

from collections.abc import Callable, Iterable

from typer.core import CompletionItem

#: The options with which Typer installs the completion.
OPTIONS = ("install_completion", "show_completion")


def _schedules() -> Iterable[str]:
    from spikemark.network.schedules import SCHEDULES

    return SCHEDULES


def _placements() -> Iterable[str]:
    from spikemark.network.placement import PLACEMENTS

    return PLACEMENTS


def _presets() -> Iterable[str]:
    from spikemark.presets import PRESETS

    return PRESETS


def _machines() -> Iterable[str]:
    from spikemark import machines

    return [*machines.names(), *machines.accelerated_names()]


def _all_machines() -> Iterable[str]:
    from spikemark import machines

    return machines.all_names()


def _modelled() -> Iterable[str]:
    from spikemark import machines

    return [*machines.names(), *machines.names_of_parted()]


def _compared() -> Iterable[str]:
    from spikemark import machines

    return machines.profile_names()


def _priced() -> Iterable[str]:
    return [f"{name}=" for name in _compared()]


def _stems(folder: str, pattern: str) -> list[str]:
    from spikemark.core import places

    return [path.stem for path in sorted((places.root() / "workflows" / folder).glob(pattern))]


def _experiments() -> Iterable[str]:
    return _stems("experiments", "*.yaml")


def _ways() -> Iterable[str]:
    return ["here", *_stems("profiles", "*")]


#: Names whose registries take seconds to load, as every analysis does; a test compares them.
STUDIES = (
    "exchange-shehzad", "exchange-music", "schedules", "networks", "energy-simula", "delivery",
    "simulation-check", "weak-scaling", "heterogeneity", "overlap", "interconnect", "mam",
    "partition-du", "routing",
)  # fmt: skip
PREDICTORS = "iid", "correlated", "replay"
CHANGES = (
    "halve-jitter", "replace-slowest", "level-ranks", "no-rare-cycles", "double-delay-ratio", "halve-latency",
    "double-ranks",
)  # fmt: skip
METHODS = (
    "round_robin", "random", "sequential", "genetic", "greedy_swap", "greedy_affinity",
    "largest_first", "space_filling", "metis", "kahip", "mtkahypar", "peak_search", "area_group",
)  # fmt: skip
FORMATS = "figures", "extra-p"
READERS = "nest", "structure-aware", "nest-sums", "bennch", "otf2", "table"


Values = Callable[[], Iterable[str]]

#: Values by the name of an option, and by (command, name) where a name has another meaning there.
VALUES: dict[str | tuple[str, str], Values] = {
    "--schedule": _schedules,
    "--placement": _placements,
    "--preset": _presets,
    "--machine": _machines,
    "--host": _machines,
    "--price": _priced,
    "--profile": _ways,
    "--predictor": lambda: PREDICTORS,
    "--change": lambda: CHANGES,
    "--method": lambda: METHODS,
    "--balance": lambda: ("time", "energy"),
    "--side": lambda: ("sender", "receiver"),
    "--format": lambda: FORMATS,
    ("cycles", "--format"): lambda: READERS,
    "--category": lambda: ("base", "optimised"),
    "--align": lambda: ("times", "knee"),
    "--compute": lambda: ("model", "execute"),
    "--launcher": lambda: ("mpirun", "srun"),
    "EXPERIMENT": _experiments,
    "MACHINE": _compared,
    ("machine", "NAME"): _all_machines,
    ("predict", "--machine"): _modelled,
    ("simulate", "--machine"): _modelled,
    ("partition", "--machine"): _modelled,
    ("study", "NAME"): lambda: STUDIES,
}

#: Commands whose `--machine` is the name of a results folder.
OF_RESULTS = ("sweep", "report", "study")


def teach(command):
    """The command, whose options and arguments now offer their values. Where there are none, files."""
    for parameter in command.params:
        names = [*parameter.opts, getattr(parameter, "metavar", None) or ""]
        if command.name in OF_RESULTS and "--machine" in names:
            continue
        keys = [key for name in names for key in ((command.name, name), name) if key in VALUES]
        if keys:
            parameter.shell_complete = _offer(VALUES[keys[0]])
    return command


def _offer(values: Values):
    """Completes to those of the values that begin with what stands there; a path is left to the shell."""

    def offered(ctx, incomplete: str) -> list:
        return [CompletionItem(name) for name in values() if name.startswith(incomplete)]

    return offered

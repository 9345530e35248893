"""A made-up machine for tests of predictions: the calls of a profile (spikemark.machines), round
numbers.
"""

from dataclasses import dataclass, field, replace

from spikemark.machines.profile import UnknownValue


@dataclass(frozen=True)
class Value:
    value: float
    unit: str
    kind: str = "measured"
    reference: str = "made up"
    interval: tuple[float, float] | None = None
    follows: tuple = ()
    open: bool = False


KERNELS = {
    "t_first": (40, "ns"),
    "t_next": (1, "ns"),
    "t_spike": (2, "ns"),
    "collocate": (5, "ns"),
    "update.ignore_and_fire": (1, "ns"),
    "update.lif_exp": (3, "ns"),
    "update.lif_sfa": (3, "ns"),
    "external": (4, "ns"),
}
VALUES = {
    "node.cores": (16, "1"),
    "node.memory": (64, "GB"),
    "node.l2": (512, "KiB"),
    "node.l3": (16384, "KiB"),
    "node.l3_cores": (4, "1"),
    "node.line": (64, "B"),
    **{f"kernels.one_core.{name}": value for name, value in KERNELS.items()},
    **{f"kernels.full_node.{name}": (2 * value, unit) for name, (value, unit) in KERNELS.items()},
    "jitter.cv": (0.1, "1"),
    "jitter.correlation_time": (1, "cycles"),
    "jitter.minor_mode.share": (0, "1"),
    "jitter.slow_spells.share": (0, "1"),
    "jitter.common.share": (0, "1"),
    "jitter.node_spread": (0, "1"),
    "interconnect.latency": (1.5, "us"),
    "interconnect.latency_node": (0.4, "us"),
    "interconnect.bandwidth": (12, "GB/s"),
    "interconnect.bandwidth_node": (10, "GB/s"),
    "interconnect.gap": (0.3, "us"),
    "interconnect.eager": (8, "KiB"),
    "power.idle": (100, "W"),
    "power.socket": (0, "W"),
    "power.core": (10, "W"),
    "power.card": (5, "W"),
    "price.node_hour": (2, "EUR/h"),
}


@dataclass(frozen=True)
class Machine:
    name: str = "made-up"
    values: dict = field(default_factory=lambda: {path: Value(*v) for path, v in VALUES.items()})
    assumptions: tuple = ()
    remarks: tuple = ()

    @property
    def identity(self):
        return self.name

    @property
    def node_identity(self):
        return self.name

    @property
    def network_identity(self):
        return self.name

    def draws_of(self, path):
        return self.name

    @property
    def names_of_draws(self):
        return {}

    def get(self, path):
        return self.values.get(path)

    def need(self, path, why):
        if path not in self.values:
            raise UnknownValue(f"{self.name}: {path} is unknown, needed for {why}")
        return self.values[path]

    def with_(self, **changes) -> "Machine":
        """With other numbers or values (None: unknown); dots of a path are written as two
        underscores.
        """
        values = dict(self.values)
        for name, value in changes.items():
            path = name.replace("__", ".")
            if value is None:
                del values[path]
            else:
                values[path] = (
                    value if isinstance(value, Value) else replace(values[path], value=value)
                )
        return replace(self, values=values)


def dear() -> Machine:
    """A faster machine that takes more power."""
    quick = {f"kernels__full_node__{k}": v for k, v in (("t_first", 30), ("t_next", 0.8))}
    return Machine("dear").with_(**quick, power__core=50, price__node_hour=9)

"""What the columns of a meter's CSV hold, as their names say: time, power, or what a row belongs
to.

A column of power has a unit of power in its name, as in `power.draw [W]`, `node1_kW` or `PkgWatt`.
Some columns in watts are no power at a moment: limits (`power.limit [W]`) and statistics over some
time (`power.draw.average [W]`). They are never read. A column such as `node`, `index`, `sensor` or
`step` says what a row belongs to.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from spikemark.core.errors import BadInput, short_repr

#: W per unit, as people write it; not MW, which is no power of anything measured here.
WATTS = {
    "uW": 1e-6,
    "µW": 1e-6,
    "mW": 1e-3,
    "W": 1.0,
    "kW": 1e3,
    "mw": 1e-3,
    "w": 1.0,
    "kw": 1e3,
    "microwatt": 1e-6,
    "microwatts": 1e-6,
    "milliwatt": 1e-3,
    "milliwatts": 1e-3,
    "watt": 1.0,
    "watts": 1.0,
    "Watt": 1.0,
    "Watts": 1.0,
    "kilowatt": 1e3,
    "kilowatts": 1e3,
}
#: s per unit of time.
SECONDS = {
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
    "sec": 1.0,
    "seconds": 1.0,
    "Seconds": 1.0,
    "milliseconds": 1e-3,
    "microseconds": 1e-6,
    "nanoseconds": 1e-9,
}
TIMES = (
    "time",
    "timestamp",
    "datetime",
    "date",
    "epoch",
    "epochtime",
    "elapsed",
    "elapsedtime",
    "t",
)
#: Words of a column of time that do not say that it is one.
BESIDE_TIME = {"system", "unix", "utc", "wall", "clock", "local", "relative", "of", "day", "stamp"}
RELATIVE = {
    "elapsed",
    "elapsedtime",
    "relative",
    "t",
}  # times from some begin, not from the Unix epoch
#: Words that make a column in watts a limit, or a statistic over some time.
LIMIT_WORDS = {
    "limit",
    "limits",
    "cap",
    "capping",
    "budget",
    "enforced",
    "default",
    "requested",
    "tdp",
    "threshold",
    "rated",
    "allocated",
    "nominal",
    "target",
    "setpoint",
    "allowed",
    "capacity",
}
STATISTICS = {
    "average",
    "averaged",
    "avg",
    "ave",
    "mean",
    "median",
    "max",
    "maximum",
    "min",
    "minimum",
    "peak",
    "sum",
    "std",
    "sd",
    "stddev",
    "sigma",
    "error",
    "err",
    "uncertainty",
    "smoothed",
    "ema",
}
#: Words of columns in watts that hold no power that is drawn, but another quantity of the mains.
NO_POWER = {"apparent", "reactive", "factor", "distortion"}
#: Names of columns, in lower case with `_` between words, that say to what a row belongs.
STEPS = ("step", "stepid", "step_id", "job", "jobid", "job_id", "jobstep", "job_step")
NODE_COLUMNS = (
    "node",
    "node_name",
    "nodename",
    "host",
    "host_name",
    "hostname",
    "server",
    "machine",
    "outlet",
)
DEVICES = (
    "index",
    "gpu",
    "gpu_id",
    "gpuid",
    "gpu_index",
    "device",
    "device_id",
    "device_index",
    "card",
    "card_id",
    "accelerator",
    "socket",
    "package",
    "package_id",
    "psu",
    "uuid",
    "gpu_uuid",
    "pci_bus_id",
    "gpu_bus_id",
    "bus_id",
    "serial",
    "gpu_serial",
    "entity",
)
COMPONENT_COLUMNS = (
    "sensor",
    "channel",
    "domain",
    "zone",
    "rail",
    "component",
    "metric",
    "series",
    "meter",
    "name",
    "label",
    "entity_id",
    "sensor_id",
    "metric_id",
    "channel_id",
    "field",
    "quantity",
    "topic",
    "feed",
    "pdu",
)
UNIT = re.compile(
    r"(?P<base>.*?)(?:\s*[\[(]\s*(?P<bracket>[A-Za-zµ]+)\s*[\])]|[_\s/](?P<bare>[A-Za-zµ]+))?\s*"
)
#: The same without anything between them, as turbostat (`PkgWatt`) and Redfish
#: (`PowerConsumedWatts`) write.
JOINED = re.compile(
    r"(?P<base>Pkg|Cor|GFX|RAM|Sys|Power|(?:Power|Average|Min|Max)[A-Z][a-z]+)(?P<unit>Watts?)"
)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Kind(StrEnum):
    """What a column holds."""

    TIME = "time"
    POWER = "power"
    LIMIT = "a limit"
    STATISTIC = "a statistic over some time"
    STEP = "step"  #: a job or a step of a job of Slurm
    NODE = "node"  #: nodes, whose powers add up
    DEVICE = "device"  #: equal devices within a node, whose powers add up
    PART = "part"  #: sensors or parts of a node, one of which may contain another
    OTHER = "other"


#: Columns that say what a row belongs to, and their names, see above.
LABELS = {
    Kind.STEP: STEPS,
    Kind.NODE: NODE_COLUMNS,
    Kind.DEVICE: DEVICES,
    Kind.PART: COMPONENT_COLUMNS,
}


@dataclass(frozen=True)
class MeterColumn:
    """A column of a meter's CSV."""

    name: str
    kind: Kind
    base: str  #: the name without its unit
    factor: float = 1.0  #: s or W per unit

    @property
    def relative(self) -> bool:
        """Whether these are times from some begin."""
        return bool(RELATIVE & {*words(self.base)})


def words(name: str) -> list[str]:
    """The words of a name in lower case.

    >>> words("power.draw [W]"), words("EpochTime")
    (['power', 'draw', 'w'], ['epoch', 'time'])
    """
    return [word.lower() for word in WORD.findall(name)]


def _without_unit(name: str, units: dict[str, float]) -> tuple[str, float | None]:
    """A name without its unit, if it has one of `units`, and the factor of the unit."""
    for pattern in (UNIT, JOINED):
        match = pattern.fullmatch(name)
        if match is None:
            continue
        parts = match.groupdict()
        unit = parts.get("bracket") or parts.get("bare") or parts.get("unit")
        if unit in units:
            return parts["base"].strip(), units[unit]
    return name, units.get(name)


def column(name: str) -> MeterColumn:
    """What the column of this name holds.

    >>> column("node1_kW")
    MeterColumn(name='node1_kW', kind=<Kind.POWER: 'power'>, base='node1', factor=1000.0)
    """
    base, factor = _without_unit(name, SECONDS)
    parts = {*words(base)}
    if parts & {*TIMES} and parts <= {*TIMES} | BESIDE_TIME:
        return MeterColumn(name, Kind.TIME, base, factor or 1.0)
    base, factor = _without_unit(name, WATTS)
    parts = {*words(base)}
    if factor is not None and not NO_POWER & parts:
        kind = Kind.POWER
        if LIMIT_WORDS & parts:
            kind = Kind.LIMIT
        elif STATISTICS & parts:
            kind = Kind.STATISTIC
        return MeterColumn(name, kind, base, factor)
    joined = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    for kind, names in LABELS.items():
        if joined in names:
            return MeterColumn(name, kind, name)
    return MeterColumn(name, Kind.OTHER, name)


def columns(names: list[str], where: str) -> list[MeterColumn]:
    """What the columns of these names hold.

    Raises BadInput, which begins with `where`, without one of time or of power.

    Example:
        >>> described = columns(["time_s", "node", "power_w"], "power.csv")
        >>> [str(column.kind) for column in described]
        ['time', 'node', 'power']
    """
    described = [column(name) for name in names]
    kinds = {column.kind for column in described}
    header = short_repr(", ".join(names))
    if Kind.TIME not in kinds:
        reason = f"no column of time in {header}"
        expected = "time, timestamp or epoch, also with a unit (s, ms, us, ns)"
        raise BadInput(
            reason=reason,
            expected=expected,
            file=where,
            code="file",
        )
    if Kind.POWER not in kinds:
        reason = f"no column of power in {header}"
        not_power = [
            f"{column.name} is {column.kind}"
            for column in described
            if column.kind in (Kind.LIMIT, Kind.STATISTIC)
        ]
        if not_power:
            reason = f"{reason} ({', '.join(not_power)})"
        expected = "mW, W or kW, as in 'power [W]'"
        raise BadInput(
            reason=reason,
            expected=expected,
            file=where,
            code="file",
        )
    return described


def time_column(described: list[MeterColumn]) -> MeterColumn:
    """The column of time: times since the epoch come before those from some begin.

    Example:
        >>> described = columns(["time_s", "power [W]"], "power.csv")
        >>> time_column(described).name
        'time_s'
    """
    times = [column for column in described if column.kind is Kind.TIME]
    return min(times, key=lambda column: column.relative)

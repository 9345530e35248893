"""Units that vendors use and profiles do not: what a value is in the unit of its field."""

#: What one of a unit is in the first unit of its kind; only units of one kind convert.
KINDS_OF_UNITS = (
    {
        "B/s": 1.0,
        "MB/s": 1e6,
        "GB/s": 1e9,
        "TB/s": 1e12,
        "MiB/s": 2.0**20,
        "GiB/s": 2.0**30,
        "Mbit/s": 1.25e5,
        "Gbit/s": 1.25e8,
        "Gb/s": 1.25e8,
        "Gbps": 1.25e8,
        "Tbit/s": 1.25e11,
    },
    {
        "B": 1.0,
        "KB": 1e3,
        "kB": 1e3,
        "KiB": 2.0**10,
        "MB": 1e6,
        "MiB": 2.0**20,
        "GB": 1e9,
        "GiB": 2.0**30,
        "TB": 1e12,
        "TiB": 2.0**40,
    },
    {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9},
    {"W": 1.0, "kW": 1e3, "MW": 1e6},
    {"EUR": 1.0, "kEUR": 1e3, "ct": 1e-2},
    {"EUR/h": 1.0, "ct/h": 1e-2},
    {"EUR/kWh": 1.0, "ct/kWh": 1e-2},
)


def converted(number: float, unit: str, into: str) -> float | None:
    """A number in another unit; None where one is no multiple of the other, or is not known.

    Example:
        >>> converted(200, "Gbit/s", "GB/s"), converted(200, "Gbit/s", "GHz")
        (25.0, None)
    """
    for factors in KINDS_OF_UNITS:
        if unit in factors and into in factors:
            return number * factors[unit] / factors[into]
    return None

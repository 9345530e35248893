"""Files of meters with planted energy: the interval contains it, or the file is refused in one
line.

Each file is drawn at random: columns in any order, units, several nodes, devices and steps, rows in
any order, limits and averages beside power, totals beside rails, formats of time, and faults that
no reader can mend.
"""

import datetime
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from planted_power import T0, Planted

from spikemark.core.errors import BadInput
from spikemark.measuring.energy import measured
from spikemark.measuring.meter import source

PLANTED = Planted()
EXTRA = {  # columns that are no power at a moment, and how far they are from it
    "power.limit [W]": 400.0,
    "enforced.power.limit [W]": 500.0,
    "power.draw.average [W]": 20.0,
    "Max Power [W]": 77.0,
    "power_cap_mW": 250_000.0,
}
RAILS = {"power.draw.instant": 0.99, "gpu_power": 0.4, "memory_power": 0.1, "VDD_CPU": 0.3}
UNITS = {"[W]": 1.0, "(W)": 1.0, "[mW]": 1e-3, "(kW)": 1e3, "(Watts)": 1.0}
LABELS = ("node", "host", "hostname", "outlet", "index", "gpu", "device", "uuid")
#: Faults that change what the file says; whoever wrote it has to mend it.
FAULTS = (
    "no label",
    "twice",
    "gap",
    "decimal comma",
    "not a number",
    "relative",
    "one hour off",
    "zero",
    "no power",
    "clock set back",
)


@dataclass
class Case:
    """A file: `fault`, or None where it must be read; `channels` that its author would name."""

    path: Path
    fault: str | None
    channels: list[str] | None
    gross_j: float


def iso(seconds: np.ndarray, style: str) -> list[str]:
    """Times of a style: with a zone of two hours, in UTC, without a zone, or as nvidia-smi writes
    them.
    """
    hours = 2 if style == "zone" else 0
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    times = [datetime.datetime.fromtimestamp(second, zone) for second in seconds]
    if style == "slashes":
        return [time.strftime("%Y/%m/%d %H:%M:%S.%f")[:-3] for time in times]
    texts = [time.isoformat(timespec="microseconds") for time in times]
    return texts if style == "zone" else [text.removesuffix("+00:00") for text in texts]


STYLES = ("s", "ms", "zone", "zoneless", "slashes", "EpochTime", "whole")


def timed(style: str, seconds: np.ndarray) -> tuple[str, list]:
    """A column of time in a style: its name and its cells."""
    if style == "ms":
        return "timestamp [ms]", [f"{1e3 * second:.1f}" for second in seconds]
    if style == "whole":
        return "epoch", [str(int(second)) for second in seconds]
    if style in ("s", "EpochTime"):
        return {"s": "time [s]"}.get(style, style), [f"{second:.6f}" for second in seconds]
    return "timestamp", iso(seconds, style)


def labelled(random: np.random.Generator) -> list[dict[str, str]]:
    """The labels of each series: nodes, devices and neither."""
    count = int(random.integers(1, 4))
    nodes, devices = (int(random.integers(0, count + 1)) for _ in range(2))
    node = str(random.choice(["node", "Host", "hostname", "outlet"]))
    device = str(random.choice(["index", "gpu", "Device", "uuid"]))
    labels = []
    for i in range(max(nodes, 1)):
        for j in range(max(devices, 1)):
            label = {node: f"n{i + 8}"} if nodes else {}
            if devices:
                label[device] = f"GPU-{7 * j}ab" if device == "uuid" else str(j)
            labels.append(label)
    return labels


def case(folder: Path, seed: int) -> Case:
    """The file of a seed."""
    random = np.random.default_rng(seed)
    fault = str(random.choice(FAULTS)) if random.uniform() < 0.3 else None
    labels = labelled(random)
    while fault == "no label" and len(labels) < 2:
        labels = labelled(random)
    interval_s = float(random.choice([0.25, 0.5, 1.0]))
    unit = str(random.choice([*UNITS]))
    shares = random.dirichlet(np.full(len(labels), 3.0))
    steps = int(random.integers(2, 13)) if random.uniform() < 0.3 and fault is None else 0
    name, channels = f"power.draw {unit}", None
    extra = {
        key: EXTRA[key]
        for key in random.choice([*EXTRA], int(random.integers(0, 3)), replace=False)
    }
    rails = {}
    if random.uniform() < 0.3:
        rails = {key: RAILS[key] for key in random.choice([*RAILS], 2, replace=False)}
        channels = ["power.draw"]
    style = str(
        random.choice(STYLES if interval_s == 1 else STYLES[:-1])
    )  # whole seconds would repeat
    jitter = 0.0 if steps or style == "whole" else 0.05
    which = int(random.integers(steps)) if steps else 0
    parts = []
    for label, share in zip(labels, shares, strict=True):
        begin = 0.0 if steps else random.uniform(0, interval_s)
        seconds = np.arange(begin, PLANTED.edges[-1] - 1, interval_s)
        seconds = seconds + jitter * random.uniform(-interval_s, interval_s, len(seconds))
        watts = share * PLANTED.watts(seconds)
        if fault == "gap":
            away = np.abs(seconds - PLANTED.edges[4] - 7) > 5 * interval_s
            seconds, watts = seconds[away], watts[away]
        if fault == "zero":
            watts[np.searchsorted(seconds, PLANTED.edges[4] + 5)] = 0.0
        moved = -T0 if fault == "relative" else 0.0
        if fault == "one hour off":
            moved = 3600.0
        head, cells = timed(style, T0 + seconds + moved)
        if fault == "relative":
            head, cells = "time [s]", [f"{second:.3f}" for second in seconds]
        if fault == "clock set back":
            late = seconds > PLANTED.edges[4] + 5
            head, cells = "timestamp", iso(T0 + seconds + 3600.0 * ~late, "zoneless")
        power = watts / UNITS[unit]
        suffix = (
            f" {unit.strip('[]()')}" if unit in ("[W]", "[mW]") and random.uniform() < 0.3 else ""
        )
        part = pd.DataFrame({head: cells})
        for column, text in label.items():
            part[column] = text
        part[name] = [f"{value:.7g}{suffix}" for value in power]
        for column, value in extra.items():
            part[column] = f"{value:g}"
        for column, factor in rails.items():
            part[f"{column} {unit}"] = [f"{factor * value:.7g}" for value in power]
        part["temperature"] = random.integers(30, 90, len(part)).astype(str)
        if steps:  # the run is in one of them; the others come before and after it
            width = PLANTED.edges[-1]
            copies = []
            for step in range(steps):
                shifted = T0 + seconds + (step - which) * (width + 5)
                head_of, cells_of = timed(style, shifted)
                copies.append(part.assign(**{head_of: cells_of, "Step": str(step)}))
            part = pd.concat(copies).sort_values("Step", kind="stable")
        parts.append(part)
    rows = pd.concat(parts, ignore_index=True)
    if steps == 0 and fault != "clock set back" and random.uniform() < 0.5:
        rows = rows.iloc[random.permutation(len(rows))]
    if fault == "decimal comma" and not rows[name].str.contains(".", regex=False).any():
        fault = None
    rows = spoilt(random, rows, fault, name)
    rows = rows[random.permutation(rows.columns)]
    path = folder / f"{seed}.csv"
    rows.to_csv(path, index=False)
    return Case(path, fault, channels, PLANTED.gross_j)


def spoilt(
    random: np.random.Generator, rows: pd.DataFrame, fault: str | None, name: str
) -> pd.DataFrame:
    """The rows with a fault."""
    row = int(random.integers(len(rows)))
    if fault == "no label":
        return rows[[column for column in rows if column.lower() not in LABELS]]
    if fault == "twice":
        return pd.concat([rows, rows.iloc[[row]]])
    if fault == "decimal comma":
        return rows.assign(**{name: rows[name].str.replace(".", ",")})
    if fault == "not a number":
        rows.iloc[row, list(rows).index(name)] = random.choice(
            ["", "nan", "[N/A]", "4294967295", "-1", "1e12"]
        )
    if fault == "no power":
        return rows.rename(
            columns={name: "power.limit [W]" if "power.limit [W]" not in rows else "draw"}
        )
    return rows


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return PLANTED.run(tmp_path_factory.mktemp("run"))


def answer(run, written: Case) -> str:
    """`right`, `wrong`, or the line that refuses the file."""
    try:
        gross_j = measured(run, source(run, written.path, written.channels)).gross_j
    except BadInput as error:
        assert "\n" not in str(error) and str(written.path) in str(error)
        return str(error)
    return "right" if gross_j.low <= written.gross_j <= gross_j.high else f"wrong: {gross_j}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_the_planted_energy_is_read_or_the_file_is_refused(run, tmp_path, seed):
    written = case(tmp_path, seed)
    verdict = answer(run, written)
    assert not verdict.startswith("wrong")
    assert (verdict == "right") == (written.fault is None), (written.fault, verdict)

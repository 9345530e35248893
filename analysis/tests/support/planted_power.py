"""Planted truth for energy: a run whose times are known, and readings of its power."""

import datetime
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from small_network import describe
from synthetic import write_run

from spikemark.records import record

T0 = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@dataclass(frozen=True)
class Planted:
    """Levels in W, lengths in s; the build draws power as well, so that not every step is the right
    one.
    """

    outside_w: float = 90.0
    build_w: float = 140.0
    idle_w: float = 100.0
    busy_w: float = 160.0
    build_s: float = 7.0
    idle_s: float = 6.0
    warmup_s: float = 4.0
    measured_s: float = 20.0
    lead_s: float = 15.0

    @property
    def edges(self) -> np.ndarray:
        """Begin, and ends of: nothing, build, pause, warm-up, measured part, pause, nothing. In
        s.
        """
        parts = (
            0,
            self.lead_s,
            self.build_s,
            self.idle_s,
            self.warmup_s,
            self.measured_s,
            self.idle_s,
        )
        return np.cumsum([*parts, self.lead_s])

    @property
    def levels(self) -> np.ndarray:
        inside = (self.build_w, self.idle_w, self.busy_w, self.busy_w, self.idle_w)
        return np.array([self.outside_w, *inside, self.outside_w])

    @property
    def gross_j(self) -> float:
        return self.busy_w * self.measured_s

    @property
    def net_j(self) -> float:
        return (self.busy_w - self.idle_w) * self.measured_s

    def watts(self, times: np.ndarray) -> np.ndarray:
        """Power at `times`, s from the begin."""
        at = np.clip(np.searchsorted(self.edges, times, side="right") - 1, 0, len(self.levels) - 1)
        return self.levels[at]

    def joule(self, times: np.ndarray) -> np.ndarray:
        """Energy from the begin to `times`."""
        known = np.concatenate([[0], np.cumsum(np.diff(self.edges) * self.levels)])
        return np.interp(times, self.edges, known)

    def times(self, interval_s: float) -> np.ndarray:
        return np.arange(0.0, self.edges[-1], interval_s)

    def timing(self) -> dict:
        """Fields of timing, as Unix times."""
        _, _, built, paused, warm, ended, after, _ = (T0 + self.edges).tolist()
        return {
            "timing__simulate_started_s": warm,
            "timing__simulate_ended_s": ended,
            "timing__idle_before_s": [built, paused],
            "timing__idle_after_s": [ended, after],
        }

    def run(self, folder: Path, **overrides):
        """A record of this run, without readings of its own unless given."""
        network = describe(areas=2, neurons=100, indegree=20, delay_ratio=1)
        spent = {"timing__simulate_s": self.measured_s, "totals__external_events": 0}
        spent |= {"timing__real_time_factor": self.measured_s / 0.01} | self.timing() | overrides
        return record.load_run(
            write_run(folder, cycles=100, description=network, delay_ratio=1, **spent)
        )


def write_csv(path: Path, times, columns: dict[str, np.ndarray], time: str = "time [s]") -> Path:
    pd.DataFrame({time: times, **columns}).to_csv(path, index=False)
    return path


def iso(times: np.ndarray, zone: str = "+00:00") -> list[str]:
    """Unix times as ISO 8601."""
    made = [datetime.datetime.fromtimestamp(t, datetime.UTC) for t in times]
    return [t.replace(tzinfo=None).isoformat() + zone for t in made]


def energy_fields(
    planted: Planted, source: str = "powercap", unit: str = "J", nodes: int = 1
) -> dict:
    """The field `energy` of a record."""
    channel = {"name": "package-0", "event": "made up", "unit": unit, "gross_j": planted.gross_j}
    return {
        "source": source,
        "status": "ok",
        "gross_j": nodes * planted.gross_j,
        "idle_power_w": nodes * planted.idle_w,
        "net_j": nodes * planted.net_j,
        "duration_s": planted.measured_s,
        "readings": 200,
        "coverage": 1.0,
        "nodes": nodes,
        "sampling_cost": 1e-4,
        "reason": None,
        "channels": [{"node": n, **channel} for n in range(nodes)],
    }


def write_own(
    folder: Path, planted: Planted, *, unit: str = "J", nodes: int = 1, interval_s: float = 0.1
):
    """energy.csv of the mini-app: from the pause before to the pause after."""
    parts = []
    for node in range(nodes):
        times = np.arange(planted.edges[2], planted.edges[6], interval_s) + 0.3 * node * interval_s
        joule, watts = planted.joule(times) - planted.joule(times[:1]), planted.watts(times)
        own = (
            {"energy_j": joule, "power_w": ""}
            if unit == "J"
            else {"energy_j": "", "power_w": watts}
        )
        about = {"node": node, "source": "powercap", "channel": "package-0", "time_s": T0 + times}
        parts.append(pd.DataFrame(about | own))
    pd.concat(parts).to_csv(folder / "energy.csv", index=False)

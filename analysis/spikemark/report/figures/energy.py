"""Power over time with the phases of a run, and energy per synaptic event by ranks."""

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .style import COLOUR, drawing, legend_above, markup, schedule_colour

SHADES = {"pause": "band", "warm-up": "rule", "pause after": "band"}
MARKERS = ("o", "s", "D", "^")


def power(
    times, watts, phases: dict[str, tuple[float, float]], idle_w: float | None, name: str, alt: str
) -> str:
    """`times` in s from the begin of the measured part; `phases`: begin and end of each, likewise."""
    with drawing(height=3.0) as (figure, (axes,)):
        handles = axes.plot(times, watts, color=COLOUR["update"], linewidth=1.2, label="power")
        for label, (start, end) in phases.items():
            if label in SHADES:
                axes.axvspan(start, end, color=COLOUR[SHADES[label]], linewidth=0)
        handles += [Patch(color=COLOUR[SHADES[n]], label=n) for n in ("pause", "warm-up") if n in phases]
        if idle_w is not None:
            handles.append(
                axes.axhline(idle_w, color=COLOUR["ink"], linestyle="--", linewidth=1, label="idle")
            )
        axes.set_ylim(bottom=0)
        axes.set_xlabel("time from the begin of the measured part (s)")
        axes.set_ylabel("power (W)")
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt)


def per_event(series: dict[tuple[str, str], list[tuple[int, float]]], name: str, alt: str) -> str:
    """`series`: by schedule and definition of an event, ranks and microjoule of every run."""
    definitions = list(dict.fromkeys(definition for _, definition in series))
    schedules = list(dict.fromkeys(schedule for schedule, _ in series))
    with drawing(height=3.0) as (figure, (axes,)):
        for (schedule, definition), points in series.items():
            aside = 1 + 0.03 * (schedules.index(schedule) - (len(schedules) - 1) / 2)
            axes.plot(
                [ranks * aside for ranks, _ in points], [value for _, value in points],
                marker=MARKERS[definitions.index(definition) % len(MARKERS)], linestyle="", markersize=5,
                markeredgewidth=0, color=schedule_colour(schedule),
            )  # fmt: skip
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("ranks")
        axes.set_ylabel("energy per event (µJ)")
        axes.grid(axis="y")
        handles = [
            Line2D([], [], marker="o", linestyle="", color=schedule_colour(s), label=s.replace("_", " "))
            for s in schedules
        ]
        handles += [
            Line2D([], [], marker=MARKERS[i % len(MARKERS)], linestyle="", color=COLOUR["muted"], label=d)
            for i, d in enumerate(definitions)
        ]
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt)

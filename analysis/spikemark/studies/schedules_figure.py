"""Waiting against D, one colour per schedule: measured, replayed, and from drawn times."""

from matplotlib.lines import Line2D

from spikemark.report.style import COLOUR, drawing, legend_above, markup, schedule_colour

from .waits import Waits

ASIDE = {"conventional": 0.92, "placement_only": 0.97, "hierarchical": 1.05}  # dots at one D, side by side


def draw(waits: list[Waits], name: str, alt: str) -> str:
    """`waits`: setups of one serial correlation, all with measured waiting."""
    handles = []
    with drawing(height=3.6) as (figure, (axes,)):
        ratios = sorted({w.setup.configuration.delay_ratio for w in waits})
        found = [x.value for w in waits for x in (w.measured, w.replayed, w.drawn)]
        lowest = 0.6 * min((x for x in found if x > 0), default=1.0)  # intervals end there
        for schedule in dict.fromkeys(w.setup.configuration.schedule for w in waits):
            own = [w for w in waits if w.setup.configuration.schedule == schedule]
            colour = schedule_colour(schedule)
            at = [w.setup.configuration.delay_ratio for w in own]
            aside = [ASIDE.get(schedule, 1.0) * d for d in at]
            drawn = [w.drawn.value for w in own]
            if own[0].setup.configuration.uses_delay_ratio:
                axes.plot(at, drawn, "--", color=colour)
            else:
                axes.plot([ratios[0], ratios[-1]], [drawn[0]] * 2, "--", color=colour, linewidth=1)
            for x, w in zip(aside, own, strict=True):
                if w.measured.low is not None:
                    axes.plot([x, x], [max(w.measured.low, lowest), w.measured.high], "-", color=colour)
            axes.plot(aside, [w.replayed.value for w in own], "x", color=colour, markersize=5)
            dots = {"marker": "o", "markersize": 5.5, "linestyle": "", "color": colour, "markeredgewidth": 0}
            axes.plot(aside, [w.measured.value for w in own], **dots)
            handles.append(Line2D([], [], label=own[0].setup.configuration.name, **dots))
        cross = {"marker": "x", "markersize": 5, "linestyle": "", "color": COLOUR["model"]}
        handles.append(Line2D([], [], label="recursion, measured times", **cross))
        handles.append(Line2D([], [], linestyle="--", color=COLOUR["model"], label="recursion, drawn times"))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(bottom=lowest)
        axes.set_xlim(0.85 * ratios[0], 1.18 * ratios[-1])
        axes.set_xticks(ratios, [str(d) for d in ratios])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.grid(axis="y")
        axes.set_xlabel("D (cycles between exchanges)")
        axes.set_ylabel("waiting (µs per cycle)")
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt)

"""First accesses per synaptic event: a dot for the count, a ring for the expectation."""

from collections import defaultdict

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from spikemark.quantities.words import counted, geometric_mean
from spikemark.report.look import tell
from spikemark.report.style import (
    COLOUR,
    drawing,
    label_rows,
    legend_above,
    markup,
    rows_height,
    schedule_colour,
)

SMALL = 0.05  # share below which the axis counts per mille


def draw(shares: list, name: str, alt: str) -> str:
    """Draws `Share` of the section in the order of ranks."""
    lines = _lines(shares)
    largest = max(max(s.counted + s.expected) for s in shares)
    scale = 1000 if largest < SMALL else 1
    largest *= scale
    ring = {
        "marker": "o",
        "markersize": 10,
        "linestyle": "",
        "color": "none",
        "markeredgecolor": COLOUR["model"],
        "markeredgewidth": 1.3,
    }
    dot = {"marker": "o", "markersize": 5.5, "linestyle": "", "markeredgewidth": 0}
    with drawing(height=rows_height(len(lines))) as (figure, (axes,)):
        for y, (label, members) in enumerate(lines):
            for mean in {float(f"{scale * geometric_mean(s.expected):.6g}") for s in members if s.expected}:
                axes.plot(mean, -y, **ring)
                tell(axes, "expected", [mean], [-y], "modelled", y_says=[label])
            for share in members:
                colour = schedule_colour(share.configuration.schedule)
                mean = scale * geometric_mean(share.counted)
                axes.plot(mean, -y, color=colour, **dot)
                tell(axes, share.configuration.label, [mean], [-y], "counted", y_says=[label])
        label_rows(axes, [-y for y in range(len(lines))], [text for text, _ in lines])
        axes.set(ylim=(-len(lines) + 0.5, 0.5), xlim=(0, 1.1 * largest))
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.set_xlabel("first accesses per " + ("synaptic event" if scale == 1 else "1000 synaptic events"))
        handles = [
            Line2D([], [], label="counted", color=COLOUR["muted"], **dot),
            Line2D([], [], label="expected", **ring),
        ]
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt)


def _lines(shares: list) -> list[tuple[str, list]]:
    """Returns label and shares of every line; shares that differ only in D have one line."""
    lines = defaultdict(list)
    for share in shares:
        schedule = ", ".join([share.configuration.name, *share.configuration.besides])
        lines[f"{schedule}, {counted(share.ranks, 'rank')}"].append(share)
    return list(lines.items())

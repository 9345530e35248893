"""The page of a comparison of offers: the first screen, costs, and what projections rest on."""

from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.files import write_output
from spikemark.prediction import draws
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.report import plots
from spikemark.report.document import Page, html

from .offers import Compared, lines, sentence, table


def write(path: Path, of: Compared, tender: str) -> None:
    """Write the page, whole or not at all."""
    columns = {
        Column("offer", "offer"): lambda one: one[0].name,
        Column("method", "method"): lambda one: f"{one[1].figure} of {one[1].run}: {one[1].method}",
        Column("assumes", "assumes"): lambda one: ", ".join(one[1].assumes),
    }
    projected = Table.of(columns, [(bid, made) for bid in of.bids for made in bid.answer.projected])
    costs = Section("costs", "Cost", figures=figures(of, "cost", "cost"))
    sections = [costs, Section("projections", "Projections", tables=[projected] if projected.rows else [])]
    pictures = figures(of, "rtf", "real-time factor", of.reach if np.isfinite(of.reach) else None)
    about = {"picture": pictures[0] if pictures else None, "notes": lines(of), "sections": sections}
    page = Page(tender, "Comparison of offers", sentence(of), table=table(of), **about)
    write_output(path, html(page, Path(path).parent))


def figures(of: Compared, name: str, head: str, line: float | None = None) -> list[Figure]:
    """Medians of offers with their 95 % intervals; none where nothing is known."""
    known = [(bid.name, *draws.interval(own)) for bid in of.bids if (own := getattr(bid, name)) is not None]
    frame = pd.DataFrame(known, columns=["offer", head, "low", "high"])
    caption = "Medians of the draws, with 95 % intervals" + ("; dashed: the target." if line else ".")
    how = {"low": "low", "high": "high", "xlabel": head, "line": line}
    return [plots.points(frame, head, "offer", name, head.capitalize(), caption, **how)] if known else []

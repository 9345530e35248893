"""The page of a comparison of offers: the first screen, costs, and what projections rest on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.files import write_output
from spikemark.prediction import draws
from spikemark.prediction.draws import Draws
from spikemark.prediction.wording import capital
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import integer, listed
from spikemark.report import facts, plots
from spikemark.report.document import Page, html

from .offers import OUR_FACTOR, ComparedOffers, lines, sentence, table
from .schema import Tender

#: Columns of the table on the first screen: offer, chance, cost, target and real-time factor.
DECISIVE_COLUMNS = 5


def write(
    path: Path,
    offers: ComparedOffers,
    tender: str,
    made_by: str = "",
    network: str = "",
    cost: str = "",
) -> None:
    """Writes the page, whole or not at all.

    Args:
        path: of the file.
        offers: side by side.
        tender: what it is called.
        made_by: the command that makes the page.
        network: the one that the machine is bought for, as of `network_in_words`.
        cost: what the cost holds, as of `cost_in_words`.
    """
    stated = facts.facts(
        network=network, machine=listed(bid.name for bid in offers.bids), command=made_by
    )
    if cost:
        stated["cost"] = cost
    factors = [(bid.name, bid.rtf) for bid in offers.bids]
    reach = offers.reach if np.isfinite(offers.reach) else None
    costs = [(bid.name, bid.cost) for bid in offers.bids]
    costs = [(name, None if cost is None else 1e-3 * cost) for name, cost in costs]
    cost_figure = _figure(costs, "cost", f"cost (1000 {offers.currency})")
    projections = _projections(offers)
    page = Page(
        tender,
        "Comparison of offers",
        sentence(offers),
        facts=stated,
        table=_decisive(table(offers)),
        picture=_figure(factors, "rtf", OUR_FACTOR, reach),
        notes=lines(offers),
        sections=[
            Section("offers", "Offers", tables=[table(offers)]),
            Section("costs", "Cost", figures=[cost_figure] if cost_figure else []),
            Section("projections", "Projections", tables=[projections] if projections.rows else []),
        ],
    )
    write_output(path, html(page))


def network_in_words(tender: Tender) -> str:
    """The size of the network that the machine is bought for; empty where no run has it.

    Example:
        >>> from spikemark_tender.formats import read_bundle
        >>> bundle = read_bundle(Path("results/examples/tender/bundle"))
        >>> network_in_words(bundle.tender)
        '80\u202f000 neurons, 40\u202f000\u202f000 synapses'
    """
    for rule in tender.runs:
        if rule.size == "target":
            neurons = integer(rule.expected.neurons)
            return f"{neurons} neurons, {integer(rule.expected.synapses)} synapses"
    return ""


def cost_in_words(years: float, hours_per_year: float, price_kwh: float | None) -> str:
    """What the cost of an offer holds.

    Example:
        >>> cost_in_words(years=5.0, hours_per_year=8000.0, price_kwh=0.3)
        'price, and energy at 0.3 per kWh over 5 years of 8\u202f000 hours'
        >>> cost_in_words(years=5.0, hours_per_year=8000.0, price_kwh=None)
        'price, without energy'
    """
    if price_kwh is None:
        return "price, without energy"
    use = f"{years:g} years of {integer(round(hours_per_year))} hours"
    return f"price, and energy at {price_kwh:g} per kWh over {use}"


def _decisive(all_columns: Table) -> Table:
    """The first columns, which decide: beside a picture, a screen has no room for more."""
    return replace(all_columns, columns=all_columns.columns[:DECISIVE_COLUMNS])


def _projections(offers: ComparedOffers) -> Table:
    """A row for each projection of each offer: how it was made, and what it assumes."""
    columns = [
        Column("offer", "offer"),
        Column("method", "method"),
        Column("assumes", "assumes"),
    ]
    rows: list[dict[str, Cell]] = []
    for bid in offers.bids:
        for projection in bid.answer.projected:
            method = f"{projection.figure} of {projection.run}: {projection.method}"
            assumes = ", ".join(projection.assumes)
            rows.append({"offer": bid.name, "method": method, "assumes": assumes})
    return Table(columns, rows)


def _figure(
    values: list[tuple[str, Draws | None]], name: str, heading: str, target: float | None = None
) -> Figure | None:
    """Medians of offers with their 95 % intervals; None where nothing is known.

    Args:
        values: names of offers, and draws.
        name: name of the figure.
        heading: what the draws are.
        target: value of a dashed line.
    """
    rows = [
        (offer, *draws.interval(of_offer)) for offer, of_offer in values if of_offer is not None
    ]
    if not rows:
        return None
    frame = pd.DataFrame(rows, columns=["offer", heading, "low", "high"])
    legend = "; dashed: the target." if target else "."
    return plots.points(
        frame,
        heading,
        "offer",
        name,
        capital(heading),
        f"Medians of the draws, with 95 % intervals{legend}",
        low="low",
        high="high",
        xlabel=f"{heading} (lower is better)",
        line=target,
    )

"""`spikemark tender offers`: the buyer's page over answers to a tender."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, HoursPerYear, Years
from .output import print_json, print_lines, print_tables, waiting_for


def offers(
    answers: Annotated[
        list[Path], typer.Argument(metavar="ANSWER...", help="Folders of answers, or a folder of them.")
    ],
    bundle: Annotated[
        Path | None,
        typer.Option(metavar="BUNDLE", help="The bundle that they answer; checks and the target need it."),
    ] = None,
    target_rtf: Annotated[
        float | None,
        typer.Option(metavar="FACTOR", help="Real-time factor to reach.", show_default="that of the bundle"),
    ] = None,
    years: Years = 5.0,
    hours_per_year: HoursPerYear = 8000.0,
    price_kwh: Annotated[
        float | None, typer.Option(metavar="AMOUNT", help="Price of one kWh, in the currency of the offers.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the buyer's page to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the answers to a tender: a table, one sentence, and what the numbers rest on.

    Checks every answer, shows what was measured or projected beside what is committed, and says which
    unknown value decides.

    Example: spikemark tender offers answers/* --bundle tender --price-kwh 0.3 --html offers.html
    """
    from spikemark.core.files import output_file
    from spikemark.prediction.life import Life
    from spikemark.tender import offers_show, received_bids
    from spikemark.tender.bids_compared import beside, sentence
    from spikemark.tender.bundle import read

    output_file("--html", html)
    life = Life(years, hours_per_year, price_kwh)
    rules = None if bundle is None else read(bundle)
    with waiting_for("checking answers"):
        of = beside(received_bids.read(answers, rules), rules, life, target_rtf)
    if html is not None:
        from spikemark.tender import offers_page

        offers_page.write(of, html)
    if as_json:
        print_json(offers_show.content(of))
        return
    first = offers_show.first(of)
    print_tables(replace(first, notes=[]))
    print_lines([sentence(of), *first.notes, *[offers_show.NO_BUNDLE] * (rules is None)])
    print_tables(*offers_show.tables(of))

"""`spikemark advise DIR`: what would help a run, or a program whose cycle times were imported."""

import shlex
from pathlib import Path

from spikemark.core.errors import BadInput

from .output import print_json, print_lines, print_tables, short, waiting_for, warn


def of_run(folder: Path, html: Path | None, as_json: bool, useless: dict[str, object]) -> None:
    """Print the answer, and write its page if asked to. Refuses the options `useless` that are given."""
    from spikemark.records.imported import run_or_times
    from spikemark.report import times_page
    from spikemark.report.ways import bars

    named = next((name for name, value in useless.items() if value is not None), None)
    if named:
        raise BadInput(f"{named}: {folder} holds a run; allowed with a network")
    times = run_or_times(folder)
    with waiting_for("asking every model"):
        made = times_page.answer(times)
    if html is not None:
        times_page.write(times, html)
    if as_json:
        print_json({
            "sentence": made.sentence, "waiting_per_cycle_s": made.fitted.waited.content(),
            "order": made.order.content(), "causes": made.causes.content(),
            "based_on": list(made.based), "measure_next": list(made.next),
        })  # fmt: skip
        return
    warn(made.based)
    print_lines([made.sentence, made.waits, made.order.title, *bars(made.ways)])
    print_tables(times_page.untitled(made.order), times_page.untitled(made.causes))
    print_lines(["Measure next, to be surer:", *(f"- {line}" for line in made.next)])
    page = short(html) if html else f"spikemark advise {shlex.quote(str(folder))} --html FILE"
    print_lines([f"As a page: {page}"])

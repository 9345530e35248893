"""Times as meters write them: seconds from any zero, seconds since the epoch, or ISO 8601."""

from datetime import UTC, datetime

import numpy as np

from spikemark.core.errors import BadInput, shown

from .trace import GAP

MOST_S = 1e15
ALLOWED = "a number, or a time such as 2026-01-31T12:00:00.5+01:00"


def parse(text: str, factor: float, where: str) -> tuple[float, bool]:
    """The time in seconds, and whether the text left its time zone open, which is then taken as UTC.

    `factor`: seconds per unit of a number. Raises BadInput for anything else.
    """
    try:
        value = float(text) * factor
    except ValueError:
        try:
            when = datetime.fromisoformat(text.strip())
            open_ = when.tzinfo is None
            return (when.replace(tzinfo=UTC) if open_ else when).timestamp(), open_
        except (ValueError, OverflowError):
            raise BadInput(f"{where}: time {shown(text)}; allowed: {ALLOWED}") from None
    if not abs(value) <= MOST_S:  # also true for NaN
        raise BadInput(f"{where}: time {shown(text)}; allowed: {ALLOWED}")
    return value, False


def check_increasing(times: np.ndarray, texts: list[str], lines: list[int], file: str) -> None:
    """Raises BadInput for the first time that is equal to the one above it or earlier."""
    bad = np.flatnonzero(np.diff(times) <= 0)
    if not len(bad):
        return
    i = int(bad[0]) + 1
    wrong = "stands twice" if times[i] == times[i - 1] else "lies before that of the line above"
    raise BadInput(
        f"{file}: line {lines[i]}: time {shown(texts[i])} {wrong}; allowed: increasing times, one line for"
        " each (several meters need their own columns, or a column such as `node` to distinguish them)"
    )


def check_gaps(times: np.ndarray, lines: list[int], span: tuple[float, float], file: str) -> None:
    """Raises BadInput for the first gap within `span` that is too long for the usual interval."""
    apart = np.diff(times)
    usual = float(np.median(apart))
    inside = (times[1:] > span[0]) & (times[:-1] < span[1])
    bad = np.flatnonzero(inside & (apart > GAP * usual))
    if len(bad):
        i = int(bad[0])
        raise BadInput(
            f"{file}: line {lines[i + 1]}: {apart[i]:.4g} s after the line before; allowed during the run:"
            f" {GAP * usual:.4g} s, {GAP:g} times the usual interval"
        )

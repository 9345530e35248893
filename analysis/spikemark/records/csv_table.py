"""Tables of the files that the mini-app and this package write as comma-separated values."""

import io
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    """The table in `path`; `options` are those of pandas.read_csv. Raises BadInput for what is none."""
    return of_text(read_text(path), path, **options)


def of_text(text: str, path: Path, **options: Any) -> pd.DataFrame:
    """The same of a text that was read from `path`."""
    try:
        return pd.read_csv(io.StringIO(text), **options)
    except (ValueError, OverflowError) as error:  # the second: an integer beyond those of pandas
        raise BadInput(f"{path}: not a table: {' '.join(str(error).split())}") from None

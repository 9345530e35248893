"""Results of readers as JSON holds them, and verbs of the command line as readers."""

import contextlib
import io
import json
from typing import Any

import numpy as np
from pydantic import BaseModel

from spikemark.cli import main
from spikemark.core.errors import BadInput


def command(*arguments) -> Any:
    """What a verb of the command line prints as JSON. Raises BadInput where it refuses with one line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.main([*map(str, arguments), "--json"])
            status = None
        except SystemExit as end:
            status = end.code
    if status == 2:
        lines = err.getvalue().splitlines()
        if out.getvalue() or len(lines) != 1 or not lines[0].startswith("spikemark: "):
            raise AssertionError(f"status 2 with {lines} and {out.getvalue()[:80]!r}")
        raise BadInput(lines[0].removeprefix("spikemark: "))
    if status != 0:
        raise AssertionError(f"status {status}: {err.getvalue()[-500:]}")
    return json.loads(out.getvalue(), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} in JSON")


def plain(value: Any) -> Any:
    """The value as JSON holds it. Raises AssertionError for what JSON cannot hold, such as NaN."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    try:
        return json.dumps(value, allow_nan=False, default=_default)
    except ValueError as error:
        raise AssertionError(f"a result that JSON cannot hold: {error}") from None


def _default(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)

"""The verdict of check.py on an answer, as a buyer gets it: the checker runs as the one file that it is."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from spikemark.core.errors import BadInput

from . import check
from .check.command import UNREADABLE

VALID, INVALID, INCOMPLETE = "VALID", "INVALID", "INCOMPLETE"
EXIT = {0: VALID, 1: INVALID, 2: INCOMPLETE}
LIMIT_S = 600
MOST = 400  # characters of a reason


@dataclass(frozen=True)
class Checked:
    """VALID, INVALID or INCOMPLETE, and why; each reason is a line that begins with its number."""

    verdict: str
    reasons: tuple[str, ...] = ()


def checked(answer: Path, bundle: Path | None) -> Checked:
    """What check.py of this installation, not that of the bidder, says of an answer.

    Raises BadInput where it was killed, or this computer could not read the answer: neither is a verdict.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "check.py"
        program.write_text(check.text(), encoding="utf-8")
        command = [sys.executable, "-I", str(program), str(answer.resolve()), "--json"]
        command += [] if bundle is None else ["--bundle", str(bundle.resolve())]
        try:
            made = subprocess.run(
                command,
                capture_output=True,
                timeout=LIMIT_S,
                cwd=folder,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Checked(INCOMPLETE, (f"the checker did not end within {LIMIT_S} s",))
    if made.returncode == UNREADABLE or made.returncode < 0:
        said = made.stderr.decode(errors="replace").strip()
        raise BadInput(said or f"check.py {answer}: ended by signal {-made.returncode}")
    verdict = EXIT.get(made.returncode)
    if verdict is None:
        return Checked(INCOMPLETE, (f"the checker ended with status {made.returncode}",))
    try:
        content = json.loads(made.stdout)
        reasons = tuple(_line(reason) for reason in content["reasons"])
    except (ValueError, KeyError, TypeError):
        reasons = tuple(made.stdout.decode(errors="replace").splitlines()[:1])
    return Checked(verdict, reasons)


def _line(reason: dict) -> str:
    return f"{reason['number']} {reason['where']}: {reason['text']}"[:MOST]

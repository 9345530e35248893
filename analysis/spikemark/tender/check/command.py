"""Checks an answer to a tender: `python3 check.py ANSWER [--bundle BUNDLE] [--json] [--public-key FILE]`.

The exit status is 0 for VALID, 1 for INVALID, 2 for INCOMPLETE, and 3 where this computer could not read the
answer, which says nothing about it.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import traceback

from .answer import check_answer
from .findings import EXIT, Report

UNREADABLE = 3
#: Errors of a disk or of a lack of memory, which no content of an answer causes.
OWN_ERRORS = {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


def main(arguments: list | None = None, beside: str | None = None) -> int:
    """Checks the answer of a command line and prints the report; `beside`: folder of the program's file."""
    parser = argparse.ArgumentParser(
        description="Checks an answer to a tender. Exit status: 0 VALID, 1 INVALID, 2 INCOMPLETE."
    )
    parser.add_argument("answer", metavar="ANSWER", help="the folder of the answer")
    parser.add_argument("--bundle", metavar="BUNDLE", help="the folder of the tender [that of this program]")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--public-key", metavar="FILE", help="public key of the bidder, of ssh or minisign")
    given = parser.parse_args(arguments)
    bundle = given.bundle
    if bundle is None and beside is not None and os.path.isfile(os.path.join(beside, "tender.json")):
        bundle = beside
    try:
        report = guarded(given.answer, bundle, given.public_key)
    except OSError as error:
        print(f"check.py: {given.answer}: cannot be read here: {error}", file=sys.stderr)
        return UNREADABLE
    shown = json.dumps(report.content(), indent=1) if given.json else report.text()
    sys.stdout.buffer.write((shown + "\n").encode("utf-8", "replace"))
    sys.stdout.flush()
    return EXIT[report.verdict]


def guarded(answer: str, bundle, key) -> Report:
    """The report; a fault of the checker itself is a reason, and not a traceback.

    Raises OSError for OWN_ERRORS.
    """
    try:
        return check_answer(answer, bundle, key)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in OWN_ERRORS:
            raise
        report = Report()
        at = traceback.extract_tb(error.__traceback__)[-1]
        report.say("fault", at.name, f"the checker failed: {type(error).__name__}: {error}; please report it")
        return report

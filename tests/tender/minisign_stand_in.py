"""Stands in for minisign where that is not installed: the same arguments and ends, and no secrets at all.

A signature holds the public key and the digest of the signed file. Anybody could forge it.
"""

import argparse
import hashlib
import secrets
import sys
from pathlib import Path

COMMENT = "untrusted comment: stand-in of minisign"


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def main() -> int:
    """Makes a pair of keys (-G), signs (-S) or verifies (-V); the status is 1 where a signature is wrong."""
    words = argparse.ArgumentParser()
    for flag in "GSVWf":
        words.add_argument(f"-{flag}", action="store_true")
    for name in "psmx":
        words.add_argument(f"-{name}")
    given = words.parse_args()
    if given.G:
        public = secrets.token_hex(28)
        for path in (given.p, given.s):
            Path(path).write_text(f"{COMMENT} key\n{public}\n")
    elif given.S:
        public = Path(given.s).read_text().split("\n")[1]
        Path(given.x).write_text(f"{COMMENT} signature\n{public} {_digest(given.m)}\n")
    elif given.V:
        public = Path(given.p).read_text().split("\n")[1]
        if Path(given.x).read_text().split("\n")[1] != f"{public} {_digest(given.m)}":
            print("Signature verification failed", file=sys.stderr)
            return 1
        print("Signature and comment signature verified")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

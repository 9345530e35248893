"""Is the detached signature of the manifest that of a public key: with ssh-keygen -Y, or with minisign."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from .findings import Report
from .reading import Unusable, text_of

SPACE = "spikemark-tender"  # namespace of ssh-keygen -Y
LIMIT_S = 60
SSH, MINISIGN = "manifest.json.sig", "manifest.json.minisig"


def check_signature(answer: str, key, report: Report) -> None:
    """Checks the signature against the file `key`; without one, only notes whether there is a signature."""
    there = [name for name in (SSH, MINISIGN) if os.path.isfile(os.path.join(answer, name))]
    if key is None:
        who = "no --public-key was given" if there else "the answer is not signed"
        report.note(f"who made this answer was not checked: {who}")
        return
    try:
        text = text_of(key)
    except Unusable as why:
        report.say("not verified", key, f"public key: {why}")
        return
    ssh = text.lstrip().startswith(("ssh-", "ecdsa-", "sk-"))
    name, program = (SSH, "ssh-keygen") if ssh else (MINISIGN, "minisign")
    if name not in there and (ssh or SSH not in there):
        report.say("not verified", name, "not there, so that nobody has signed this answer")
        return
    if shutil.which(program) is None:
        report.say("not verified", name, f"{program} is not on this computer; check the signature elsewhere")
        return
    signature = os.path.join(answer, name if name in there else SSH)
    said = _ssh(answer, text, signature) if ssh else _minisign(answer, key, signature)
    if said is not None:
        report.say("signature", name, f"{program}: {said}")


def _ssh(answer: str, text: str, signature: str):
    """None where the signature is good, else what ssh-keygen says."""
    line = next((one for one in text.splitlines() if one.strip() and not one.startswith("#")), "")
    with tempfile.TemporaryDirectory() as folder:
        signers = os.path.join(folder, "signers")
        with open(signers, "w", encoding="utf-8") as file:
            file.write(f'bidder namespaces="{SPACE}" {" ".join(line.split()[:2])}\n')
        return _said(
            ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", "bidder", "-n", SPACE, "-s", signature],
            os.path.join(answer, "manifest.json"),
        )


def _minisign(answer: str, key: str, signature: str):
    manifest = os.path.join(answer, "manifest.json")
    return _said(["minisign", "-V", "-p", key, "-m", manifest, "-x", signature], os.devnull)


def _said(command: list, given: str):
    """The last line of a program that fails; None if it succeeds. It reads the file `given`."""
    try:
        with open(given, "rb") as stream:
            done = subprocess.run(
                command,
                stdin=stream,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_S,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it could not be started or did not end: {error}"
    if done.returncode == 0:
        return None
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"

"""Programs that are started and watched until they end."""

import contextlib
import os
import signal
import subprocess

from .launch import Launch

GRACE_S = 5


def watch(start: Launch, limit_s: float) -> tuple[int | None, str, str]:
    """Exit status (None: over the time limit), output and errors; ends all ranks when interrupted itself."""
    try:
        process = subprocess.Popen(
            start.command,
            env=start.full_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except FileNotFoundError:
        return 127, "", f"{start.command[0]}: command not found"
    try:
        output, errors = process.communicate(timeout=limit_s)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        _end(process)
        return None, "", f"not finished within the time limit of {limit_s:g} s"
    except BaseException:
        _end(process)
        raise


def _end(process: subprocess.Popen) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE_S)
            return

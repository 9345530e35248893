"""Asks a command of analysis/commands.csv for its output, most of them without starting a program.

A command is steps joined by ` && `; `$T` is an empty folder, and a step may end in `>FILE`.
`spikemark` and `call` (a function of functions.py) run in this process, `cat` reads a file, and
everything else is started.
"""

import contextlib
import glob
import io
import json
import os
import shlex
import signal
import subprocess
from pathlib import Path

import program
from golden import functions

from spikemark.cli.main import main

DONE = {}  # what commands gave: (status, standard output, standard error)


def spikemark(*arguments):
    out, err = io.StringIO(), io.StringIO()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(list(arguments))
    except SystemExit as end:
        status = end.code or 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return status, out.getvalue(), err.getvalue()


def started(*words):
    """Starts a program with one thread; `miniapp` among the words stands for its path."""
    command = ["env", *(str(program.MINIAPP) if word == "miniapp" else word for word in words)]
    done = subprocess.run(
        command,
        env={**os.environ, **program.ENVIRONMENT, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout, done.stderr


def expanded(words):
    """Words with the files that patterns among them name, as a shell gives them."""
    result = []
    for word in words:
        is_pattern = "*" in word and "{" not in word
        result += sorted(glob.glob(word)) if is_pattern else [word]
    return result


def step(words):
    name, *arguments = expanded(words)
    if name == "spikemark":
        return spikemark(*arguments)
    if name == "call":
        function, *values = arguments
        return 0, json.dumps(getattr(functions, function)(*values)), ""
    if name == "cat":
        return 0, Path(arguments[0]).read_text(), ""
    return started(*words)


def asked(command, folder):
    """Exit status, standard output and standard error of the last step, or of the first failing."""
    if command not in DONE:
        for part in command.replace("$T", str(folder)).split(" && "):
            words = shlex.split(part)
            file = None
            if words[-1].startswith(">"):
                file = Path(words.pop().removeprefix(">"))
            status, out, err = step(words)
            if file is not None:
                file.write_text(out)
            if status:
                break
        DONE[command] = status, out, err
    return DONE[command]

"""Asks a command of analysis/commands.csv for its output, most of them without starting a program.

A command is steps joined by ` && `; `$T` is an empty folder, and a step may end in `>FILE`. `spikemark` and
`call` (a function of functions.py) run in this process, `cat` reads a file, and everything else is started.
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
    path, environment = str(program.MINIAPP), {**os.environ, **program.ENVIRONMENT, "OMP_NUM_THREADS": "1"}
    command = ["env", *(path if word == "miniapp" else word for word in words)]
    streams = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": 600}
    done = subprocess.run(command, env=environment, **streams)
    return done.returncode, done.stdout, done.stderr


def step(words):
    name, *arguments = (
        path
        for word in words
        for path in (sorted(glob.glob(word)) if "*" in word and "{" not in word else [word])
    )
    if name == "spikemark":
        return spikemark(*arguments)
    if name == "call":
        return 0, json.dumps(getattr(functions, arguments[0])(*arguments[1:])), ""
    if name == "cat":
        return 0, Path(arguments[0]).read_text(), ""
    return started(*words)


def asked(command, folder):
    """(exit status, standard output, standard error) of the last step, or of the first that fails."""
    if command not in DONE:
        for part in command.replace("$T", str(folder)).split(" && "):
            words = shlex.split(part)
            into = words.pop()[1:] if words[-1].startswith(">") else None
            status, out, err = step(words)
            if into:
                Path(into).write_text(out)
            if status:
                break
        DONE[command] = status, out, err
    return DONE[command]

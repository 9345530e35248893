"""Where output goes: terminals and pipes of any encoding, closed early or from the start, a full
disk.
"""

import contextlib
import io
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import job, write_run

from spikemark.cli import main
from spikemark.core import streams

pytestmark = pytest.mark.slow  # starts commands

ENCODINGS = ("ascii", "latin-1", "cp437", "koi8-r")
#: Screens with letters that ASCII lacks; {} is the folder of a run.
SCREENS = (
    "waiting {} --details",
    "advise mam-benchmark --machine jureca-dc --nodes 4",
    "energy {}",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(
        tmp_path_factory.mktemp("run"), ranks=2, cycles=400, rank_sd=0.2, launch=job(1)
    )


def printed(command: str, encoding: str) -> tuple[bytes, bytes]:
    """What a command writes to standard output and standard error of an encoding."""
    output = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    errors = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        with pytest.raises(SystemExit):
            main.main(command.split())
        output.flush()
        errors.flush()
    return output.buffer.getvalue(), errors.buffer.getvalue()


@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
@pytest.mark.parametrize("screen", SCREENS)
def test_screens_are_readable_in_every_encoding(screen, encoding, run):
    command = screen.format(run)
    plain, _ = printed(command, "utf-8")
    output, errors = printed(command, encoding)
    assert b"Traceback" not in errors
    assert output.decode(encoding) and b"\\u" not in output and b"\\x" not in output
    assert len(output.splitlines()) == len(plain.splitlines())


def test_help_is_ascii(spikemark):
    """Click writes UTF-8 to a terminal that has only ASCII."""
    for command in main.commands():
        assert spikemark(command, "--help")[1].isascii(), command


@given(st.text(), st.sampled_from(ENCODINGS))
def test_any_text_can_be_written(text, encoding):
    assert text.encode(encoding, streams.READABLE).decode(encoding) is not None


def test_powers_units_and_signs_in_ascii():
    assert "8.6·10⁻⁸ µs ≥ −1".encode("ascii", streams.READABLE) == b"8.6*10^-8 us >= -1"


COMMANDS = ("--version", "--help", "machine epyc-vm")


@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_cannot_be_written_is_no_success(command):
    words = [sys.executable, "-m", "spikemark", *command.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "spikemark: No space left on device\n")
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        program.stdout.close()
        assert (program.wait(), program.stderr.read()) == (-signal.SIGPIPE, "")


def test_closed_standard_output_is_named():
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m spikemark --version >&-"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, "spikemark: standard output is closed\n")

"""The mini-app and the analysis know the same files of a run."""

import json
import subprocess
from pathlib import Path

from spikemark.records import run_files

MINIAPP = Path(__file__).parents[1] / "build" / "miniapp"


def test_both_programs_list_the_same_files():
    listed = subprocess.run([MINIAPP, "--list", "--json"], capture_output=True, text=True, check=True).stdout
    theirs = {file["name"]: file["writer"] for file in json.loads(listed)["run_files"]}
    assert theirs == run_files.FILES

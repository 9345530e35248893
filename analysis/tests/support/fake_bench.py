"""Stands in for build/bench_kernels: output of the form of Google Benchmark, and a program that
gives it.
"""

import json
from pathlib import Path

from stand_in import script

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
ITEMS = 1000  # per iteration


def entry(
    kernel: str, size: int, ns: float, real_ns: float | None = None, unit="us", options=""
) -> dict:
    """One repetition of a kernel that takes `ns` of CPU time and `real_ns` per item."""
    real_ns, name = real_ns or ns, f"{kernel}/size:{size}{options}"
    scale = ITEMS / NANOSECONDS[unit]
    return {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "iterations": 3,
        "time_unit": unit,
        "real_time": real_ns * scale,
        "cpu_time": ns * scale,
        "label": "per synapse",
        "items_per_second": 1e9 / (real_ns if options else ns),
    }


def content(*entries: dict) -> dict:
    return {"context": {"host_name": "fake", "num_cpus": 2}, "benchmarks": list(entries)}


PROGRAM = """
import json, re, shutil, sys
options = dict(a.removeprefix("--benchmark_").split("=", 1) for a in sys.argv[1:])
with open({here!r} + "/called", "a") as log:
    print(json.dumps(options), file=log)
content = json.load(open({here!r} + "/content.json"))
names = dict.fromkeys(b["run_name"] for b in content["benchmarks"])
names = [n for n in names if re.search(options["filter"], n)]
if options.get("list_tests"):
    print(*names, sep="\\n")
    sys.exit()
{action}
content["benchmarks"] = [b for b in content["benchmarks"] if b["run_name"] in names]
json.dump(content, open(options["out"], "w"))
for name in names:
    print(name, "1 us", "1 us")
"""


def write_program(folder: Path, *entries: dict, action: str = "") -> Path:
    """An executable that gives `entries` after the Python statement `action`."""
    (folder / "content.json").write_text(json.dumps(content(*entries)))
    return script(folder / "bench_kernels", PROGRAM.format(here=str(folder), action=action))


def calls(folder: Path) -> list:
    """The options of every call of the program in `folder`."""
    return [json.loads(line) for line in (folder / "called").read_text().splitlines()]

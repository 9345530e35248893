"""A bundle and an honest answer, made from real runs with a planted meter, and the tools of a
cheater.
"""

import contextlib
import dataclasses
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import program
import pytest

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.prediction import question
from spikemark.records import record
from spikemark.running import energy
from spikemark_tender import answer, check, environment, formats, measure, new, source

WATTS = 150.0
OFFER = {
    "machine": "a small one",
    "nodes": 8,
    "price": 1000.0,
    "currency": "EUR",
    "node_limit_w": 400.0,
    "node_idle_w": 50.0,
}
#: Two of eight nodes run the target, which is honest for two nodes that take 50 to 400 W each.
PROJECTED = {"real_time_factor": "0.8:0.7:0.9", "power_w": "600:500:700"}
#: The rate has more digits than a record holds, as those of networks of one's own have.
OPTIONS = ("areas=2", "neurons_per_area=1000", "indegree=100", "rate=10.000000000000002")


def bundle(folder: Path, **given) -> formats.Bundle:
    """A bundle of two small bench networks; the archive of the sources is a stand-in."""
    usual = {"node_memory_gb": 0.01, "areas": 2, "repetitions": 2, "minimum_s": 0.02, "power": True}
    target = given.pop("target", None)
    target = target or question.of_preset("mam-benchmark", False, list(OPTIONS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(new, "MEMORY_SHARES", {"small": 0.1, "medium": 0.3})
        patch.setattr(new, "IDLE_S", 0.2)
        patch.setattr(new, "_bench", lambda *given, bench=new._bench: _slower(bench(*given)))
        patch.setattr(source, "archive", lambda root, commit: b"sources")
        wanted = new.TenderRequest(name=folder.name, target=target, **(usual | given))
        return new.new(folder, wanted, places.root(), "HEAD")[0]


def _slower(network: question.Question) -> question.Question:
    """Cycles of at least 100 us, so that readings of power cover a run on any machine."""
    return dataclasses.replace(
        network, description=network.description | {"inject": {"mean_us": 100.0}}
    )


def _measure(description: Path, ms: float, folder: Path, out: Path, tries: int = 5) -> None:
    """Runs the mini-app beside a sampler; again where a busy machine left a gap in the readings."""
    asked = energy.energy_request(description)
    for n in range(tries):
        readings = folder / "readings" / f"{out.parent.name}-{out.name}-{n}"
        shutil.rmtree(out, ignore_errors=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SPIKEMARK_SYSFS", str(folder / "sys"))
            with energy.sampling(readings, (), "mpirun", interval_s=0.01):
                idle = energy.pause(readings, asked)
                program.record_of(
                    out, *program.sets(time__simulate_ms=ms), description=description, ranks=2
                )
        energy.fill(out, readings, asked, idle)
        timing = record.load_run(out).record.timing
        with contextlib.suppress(BadInput):
            check._integral(
                out / "energy.csv", (timing.simulate_started_s, timing.simulate_ended_s)
            )
            return


def write(folder: Path) -> None:
    """Runs the mini-app four times, and collects the answer as `spikemark tender answer` does."""
    made, work = bundle(folder / "bundle"), folder / "work"
    chip = folder / "sys" / "class" / "hwmon" / "hwmon0"
    chip.mkdir(parents=True)
    (chip / "power1_input").write_text(f"{1e6 * WATTS:.0f}\n")
    runs = {}
    for rule in made.rules(None):
        ms = rule.model_ms[-3]
        for k in range(1, rule.repetitions + 1):
            _measure(made.file(rule), ms, folder, work / rule.name / str(k))
        records = [f"{rule.name}/{k}" for k in range(1, rule.repetitions + 1)]
        runs[rule.name] = {"layout": {"ranks": 2}, "set": {}, "model_ms": ms, "records": records}
    about = {
        "bundle_sha256": made.sha256,
        "category": "base",
        "program_sha256": "0" * 64,
        "runs": runs,
    }
    write_json(work / measure.CHOICES, about)
    environment.write_node(work / measure.NODES)
    stated = [
        answer.stated(f"target.{name}={text}", 2, "by hand") for name, text in PROJECTED.items()
    ]
    answer.write(made, work, folder / "answer", "Ada", OFFER, projected=stated)


@dataclass(frozen=True)
class Made:
    """A folder with bundle, measurements and answer, with what a cheater needs to hide a change."""

    folder: Path

    @property
    def path(self) -> Path:
        """The answer."""
        return self.folder / "answer"

    @property
    def bundle(self) -> formats.Bundle:
        """The bundle."""
        return formats.read_bundle(self.folder / "bundle")

    def copy(self, to: Path) -> "Made":
        """A copy that may be changed."""
        shutil.copytree(self.folder, to)
        return Made(to)

    def run(self, k: int = 1) -> Path:
        """The folder of a repetition of the small bench network."""
        return self.path / "runs" / "bench-small" / str(k)

    @contextlib.contextmanager
    def edit(self, file: Path | str = formats.ANSWER):
        """The content of a JSON file, which is written back."""
        path = self.path / file
        value = json.loads(path.read_text())
        yield value
        write_json(path, value)

    def state(self, **figures: float) -> None:
        """States all figures anew, from the records and, times a factor, from what is stated of
        energy.
        """
        with self.edit() as content:
            for run in content["runs"]:
                for one in run["repetitions"]:
                    timing = json.loads((self.path / one["folder"] / "record.json").read_text())[
                        "timing"
                    ]
                    one["real_time_factor"] = timing["real_time_factor"]
                    one["joules_per_synaptic_event"] *= figures.get("joules", 1.0)
                for name in formats.FIGURES:
                    run["figures"][name] = answer.of_repetitions(
                        [one[name] for one in run["repetitions"]]
                    )
        read = formats.read_answer(self.path)
        with self.edit() as content:
            content["committed"] = answer._promises(self.bundle, read, {})

    def seal(self) -> None:
        """Writes the manifest anew."""
        formats.write_manifest(self.path)

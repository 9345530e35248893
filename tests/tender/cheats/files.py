"""Cheats with files, hashes and forms."""

import json
import math

from tender.offered import Answer

from spikemark.tender import manifest

from .cheat import Cheat


def _factor(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        record["timing"]["real_time_factor"] *= 0.8


def _delete(answer: Answer) -> None:
    (answer.run() / "cycles.npy").unlink()


def _extra(answer: Answer) -> None:
    (answer.run() / "better.json").write_text("{}")


def _link(answer: Answer) -> None:
    _delete(answer)
    (answer.run() / "cycles.npy").symlink_to("../2/cycles.npy")


def _rules(answer: Answer) -> None:
    """Sends a bundle of his own along; the buyer checks with his."""
    with answer.edit("answer.json") as content:
        content["bundle_sha256"] = "0" * 64


def _tolerances(answer: Answer) -> None:
    with answer.edit(answer.bundle / "tender.json") as tender:
        tender["plausibility"]["clock"] = 1.0


def _source(answer: Answer) -> None:
    (answer.bundle / "source.tar.gz").write_bytes(b"faster sources")
    manifest.write(answer.bundle)
    with answer.edit("answer.json") as content:
        content["bundle_sha256"] = manifest.sha256(answer.bundle / manifest.FILE)


def _no_manifest(answer: Answer) -> None:
    (answer.path / manifest.FILE).unlink()


def _nan(answer: Answer) -> None:
    path = answer.run() / "record.json"
    record = json.loads(path.read_text())
    record["timing"]["simulate_s"] = math.nan
    path.write_text(json.dumps(record))


def _no_ranks(answer: Answer) -> None:
    (answer.run() / "ranks.csv").unlink()


def _short_ranks(answer: Answer) -> None:
    answer.put_lines(answer.run(), answer.lines(answer.run())[:1])


def _negative(answer: Answer) -> None:
    times = answer.times(answer.run())
    times[:, 100, 1] = -times[:, :, 1].sum(axis=1) / 2
    answer.put_times(answer.run(), times)


CHEATS = (
    Cheat(
        "edited, not sealed",
        "edits a figure of a record and leaves the manifest as it was",
        _factor,
        "file changed",
        tell=False,
        seal=False,
    ),
    Cheat("file removed", "removes the cycle times of a repetition", _delete, "file missing", seal=False),
    Cheat("file added", "adds a file that nobody asked for", _extra, "file extra", seal=False),
    Cheat("link", "puts a link to another repetition in place of a file", _link, "link"),
    Cheat("own rules", "answers to a bundle of his own with easier rules", _rules, "other bundle"),
    Cheat("wider tolerances", "widens a tolerance in the buyer's tender.json", _tolerances, "bundle changed"),
    Cheat(
        "other sources",
        "replaces the sources of the bundle and writes its manifest anew",
        _source,
        "source changed",
    ),
    Cheat("no manifest", "leaves out the manifest", _no_manifest, "no manifest", seal=False),
    Cheat(
        "not a number",
        "writes NaN where a time should be, which is neither small nor large",
        _nan,
        "form",
        tell=False,
    ),
    Cheat("no ranks", "leaves out the table of ranks", _no_ranks, "part missing"),
    Cheat("one rank", "keeps only the faster rank in the table of ranks", _short_ranks, "ranks form"),
    Cheat("negative times", "shortens a run by cycles that take less than no time", _negative, "cycles form"),
)

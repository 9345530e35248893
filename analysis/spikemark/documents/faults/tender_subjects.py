"""Commands of tenders and of the ledger, which are disturbed as others are (subjects.py).

The bundle has one measured run of a tenth of a second, and is made from the last commit.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.prediction.ledger import chain
from spikemark.records import record
from spikemark.tender import acceptance, answer, bundle, manifest

from .subject import Parts, Subject, ran

BUNDLE, ANSWER, EXPECT, ACCEPTED, PAGE = "bundle", "answer", "expect.json", "acceptance", "offers.html"
WORK = f"{ANSWER}-work"
LEDGER, PREDICTION = "ledger.jsonl", "prediction.json"
MEASURED, SEED = "bench-small", "7"
SMALL = ("--quick", "--commit", "HEAD", "--node-memory", "0.02", "--minimum", "0.1")
OFFERED = ("--nodes", "1", "--price", "1000", "--system", "a node")
#: What says when a bundle was made, and follows from that.
DATED = (bundle.TENDER, bundle.RULES)


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _new(folder: Path) -> list[str]:
    return ["spikemark", "tender", "new", str(folder / BUNDLE), *SMALL]


def _bundle(folder: Path) -> Parts:
    path = folder / BUNDLE
    if not path.exists():
        return {}
    found = bundle.read(path)
    listed = {name: one for name, one in manifest.check(path)["files"].items() if name not in DATED}
    said = found.tender.model_dump(mode="json") | {"created": None}
    return {"bundle": _hash([listed, said])}


def _called(folder: Path) -> None:
    """A bundle that asks for one run to be measured, and no more."""
    ran(_new(folder))
    path = folder / BUNDLE
    tender = read_json(path / bundle.TENDER)
    tender["runs"] = [rule for rule in tender["runs"] if rule["name"] == MEASURED]
    (path / bundle.TENDER).write_text(json.dumps(tender))
    manifest.write(path)


def _run(folder: Path) -> list[str]:
    words = ["--out", str(folder / ANSWER), "--ranks", "1", "--threads", "1"]
    return ["spikemark", "tender", "run", str(folder / BUNDLE), *words]


def _checksums(folder: Path, within: str) -> Parts:
    """The spikes of every record that is in its place below a folder."""
    found = {}
    for path in sorted((folder / within).rglob(record.run_files.RECORD)):
        name = path.parent.relative_to(folder)
        if not any(part == "unchecked" or part.startswith(".") for part in name.parts):
            found[str(name)] = record.load(path.parent).record.checksum
    return found


def _answer(folder: Path) -> Parts:
    found = _checksums(folder, WORK)
    if (folder / ANSWER).exists():
        manifest.check(folder / ANSWER)
        content = answer.read_whole(folder / ANSWER)
        found["answer"] = _hash([run["name"] for run in content["runs"]])
        found |= _checksums(folder, ANSWER)
    return found


def _answered(folder: Path) -> None:
    _called(folder)
    ran(_run(folder))


def _commit(folder: Path) -> list[str]:
    return ["spikemark", "tender", "commit", str(folder / BUNDLE), str(folder / ANSWER), *OFFERED]


def _committed(folder: Path) -> Parts:
    """The sheet and the answer that it lies in, which has to be as its manifest says."""
    found, path = _answer(folder), folder / ANSWER / answer.COMMITMENT
    return found | ({"commitment": _hash(read_json(path))} if path.exists() else {})


def _prepare(folder: Path) -> list[str]:
    words = ["--seed", SEED, "--expect", str(folder / EXPECT), "--out", str(folder / ACCEPTED)]
    return ["spikemark", "tender", "accept", str(folder / BUNDLE), *words, "--ranks", "1", "--prepare"]


def _expected(folder: Path) -> Parts:
    found, path = _checksums(folder, ACCEPTED), folder / EXPECT
    return found | ({"expected": _hash(read_json(path))} if path.exists() else {})


def _prepared(folder: Path) -> None:
    _called(folder)
    words = _prepare(folder)
    words[words.index(str(folder / ACCEPTED))] = str(folder / "prepared")
    ran(words)


def _accept(folder: Path) -> list[str]:
    return _prepare(folder)[:-1]


def _accepted(folder: Path) -> Parts:
    found, path = _checksums(folder, ACCEPTED), folder / ACCEPTED / acceptance.FILE
    if path.exists():
        content = read_json(path)
        found["accepted"] = _hash([content["accepted"], content["checksum"]])
    return found


def _offered(folder: Path) -> None:
    _answered(folder)
    ran(_commit(folder))


def _offers(folder: Path) -> list[str]:
    return ["spikemark", "tender", "offers", str(folder / ANSWER), "--html", str(folder / PAGE)]


def _page(folder: Path) -> Parts:
    path = folder / PAGE
    if not path.exists():
        return {}
    text = path.read_text()
    if not text.rstrip().endswith("</html>"):
        raise BadInput(f"{path}: is cut")
    return {"page": _hash(text)}


def _page_before(folder: Path) -> None:
    _offered(folder)
    (folder / PAGE).write_text("<html>before</html>")


# The ledger


def _prediction(folder: Path, number: int) -> Path:
    """What `predict --json` prints of a network with another number of neurons."""
    path = folder / f"{number}-{PREDICTION}"
    network = ["mam-benchmark", "--option", "areas=2", "--option", f"neurons_per_area={number}"]
    network += ["--option", "indegree=20", "--machine", "jureca-dc", "--ranks", "2", "--threads", "1"]
    path.write_text(ran(["spikemark", "predict", *network, "--json"]))
    return path


def _frozen_before(folder: Path) -> None:
    (folder / "runs").mkdir()
    _prediction(folder, 300)
    ran(_freeze(folder, _prediction(folder, 200)))


def _freeze(folder: Path, prediction: Path | None = None) -> list[str]:
    given = prediction or folder / f"300-{PREDICTION}"
    words = ["--results", str(folder / "runs"), "--asked", "network"]
    return ["spikemark", "ledger", "add", str(folder / LEDGER), str(given), *words]


def _ledger(folder: Path) -> Parts:
    path = folder / LEDGER
    if not path.exists():
        return {}
    found = chain.read(path)
    if not found.whole:
        raise BadInput(f"{path}: {found.complaints[0]}")
    return {f"entry {one.number}": one.run_sha256 for one in found.entries}


SUBJECTS = (
    Subject("`tender new`", lambda folder: None, _new, _bundle, output=BUNDLE),
    Subject("`tender run`", _called, _run, _answer, keeps=True, most=4, output=ANSWER),
    Subject("`tender commit`", _answered, _commit, _committed, keeps=True),
    Subject("`tender accept --prepare`", _called, _prepare, _expected, keeps=True, most=4, output=EXPECT),
    Subject("`tender accept`", _prepared, _accept, _accepted, keeps=True, most=4, output=ACCEPTED),
    Subject("`tender offers` in place of a page", _page_before, _offers, _page, output=PAGE),
    Subject("`ledger add`", _frozen_before, _freeze, _ledger, output=LEDGER),
)

"""The sheet of an offer is put into an answer as a whole, or the answer stays as it was."""

import os
from types import SimpleNamespace

import pytest

from spikemark.tender import answer, commitment, manifest
from spikemark.tender.commitment import Offer, commit

OFFER = Offer("a node", 1, 1000.0, "EUR", {})
BUNDLE = SimpleNamespace(
    sha256="0" * 64, path="bundle", tender=SimpleNamespace(name="x", quick=True, runs=[])
)
SIGNATURE = manifest.SIGNATURES[0]


@pytest.fixture
def given(tmp_path, monkeypatch):
    """An answer without runs, signed."""
    path = tmp_path / "answer"
    (path / "runs").mkdir(parents=True)
    (path / "runs" / "record.json").write_text("{}")
    (path / answer.FILE).write_text("{}")
    manifest.write(path, bundle_sha256=BUNDLE.sha256)
    (path / SIGNATURE).write_text("signed")
    content = {"bundle_sha256": BUNDLE.sha256, "bidder": "x", "runs": []}
    monkeypatch.setattr(commitment.answer, "read_whole", lambda path: content)
    monkeypatch.setattr(commitment, "_page", lambda bundle, content: f"for {content['price']['total']}")
    return path


def everything(folder) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("calls", range(3))
def test_an_answer_stays_as_it_was_where_writing_the_sheet_fails(given, monkeypatch, calls):
    """After none, one or two of the three files are written."""
    before, left = everything(given), [calls]
    replace = os.replace

    def full(source, target):
        if not left[0]:
            raise OSError(28, "No space left on device", str(target))
        left[0] -= 1
        replace(source, target)

    with monkeypatch.context() as disk:
        disk.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            commit(given, BUNDLE, OFFER, None)
    assert everything(given) == before and [p.name for p in given.parent.iterdir()] == ["answer"]
    commit(given, BUNDLE, OFFER, None)
    manifest.check(given)
    assert (given / commitment.PAGE).read_text() == "for 1000.0" and not (given / SIGNATURE).exists()


def test_files_of_an_answer_are_not_written_into_nor_copied(given):
    kept = given / "runs" / "record.json"
    number = kept.stat().st_ino
    commit(given, BUNDLE, OFFER, None)
    assert kept.stat().st_ino == number and kept.read_text() == "{}"


def test_a_sheet_that_was_half_written_inside_the_working_folder_is_written_again(given, monkeypatch):
    """The working folder cannot be replaced, so a sheet may be there without its manifest."""
    monkeypatch.chdir(given)
    (given / answer.COMMITMENT).write_text("{}")
    commit(given, BUNDLE, OFFER, None)
    manifest.check(given)

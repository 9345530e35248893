"""Detached signatures of answers: that of the given key or not, with ssh-keygen and with minisign."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spikemark.tender.check import signature
from spikemark.tender.check.findings import REASONS, Report

STAND_IN = Path(__file__).with_name("minisign_stand_in.py")
SSH, MINISIGN = "ssh-keygen", "minisign"


@pytest.fixture
def signer(tmp_path, monkeypatch):
    """Makes keys and signatures as bidders do; `minisign` is a stand-in where it is not installed."""
    if shutil.which(MINISIGN) is None:
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / MINISIGN
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def ran(*command):
        subprocess.run([str(word) for word in command], check=True, capture_output=True)

    def key(program, name):
        made = tmp_path / name
        if program == SSH:
            ran(SSH, "-q", "-t", "ed25519", "-N", "", "-f", made)
        else:
            ran(MINISIGN, "-G", "-f", "-W", "-p", f"{made}.pub", "-s", made)
        return made

    def sign(program, made, manifest):
        if program == SSH:
            ran(SSH, "-q", "-Y", "sign", "-n", signature.SPACE, "-f", made, manifest)
        else:
            ran(MINISIGN, "-S", "-W", "-s", made, "-m", manifest, "-x", f"{manifest}.minisig")

    return key, sign


def signed_by(answer, key) -> list[int]:
    """The numbers of the reasons about the signature, with this public key."""
    report = Report()
    signature.check_signature(str(answer), key and f"{key}.pub", report)
    return report.numbers


@pytest.mark.parametrize("program", [SSH, MINISIGN])
def test_a_signature_is_of_the_given_key_or_not(program, tmp_path, signer):
    key, sign = signer
    keys = [key(program, name) for name in ("bidder", "stranger")]
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    assert signed_by(tmp_path, keys[0]) == [REASONS["not verified"].number]  # nobody signed
    sign(program, keys[0], manifest)
    assert signed_by(tmp_path, keys[0]) == signed_by(tmp_path, None) == []
    assert signed_by(tmp_path, keys[1]) == [REASONS["signature"].number]
    manifest.write_text("{ }")
    assert signed_by(tmp_path, keys[0]) == [REASONS["signature"].number]


@pytest.mark.parametrize(("own", "other"), [(SSH, MINISIGN), (MINISIGN, SSH)])
def test_a_signature_of_the_other_program_does_not_stand_for_that_of_the_key(own, other, tmp_path, signer):
    key, sign = signer
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    sign(other, key(other, "stranger"), manifest)
    (number,) = signed_by(tmp_path, key(own, "bidder"))
    assert number in (REASONS["signature"].number, REASONS["not verified"].number)


def test_without_the_program_a_signature_is_not_verified(tmp_path, monkeypatch):
    monkeypatch.setattr(signature.shutil, "which", lambda _: None)
    for name, key in (
        (signature.SSH, "ssh-ed25519 AAAA x"),
        (signature.MINISIGN, "untrusted comment: x\nRWQ"),
    ):
        (tmp_path / name).write_text("x")
        (tmp_path / "key").write_text(key)
        report = Report()
        signature.check_signature(str(tmp_path), str(tmp_path / "key"), report)
        assert report.numbers == [REASONS["not verified"].number]

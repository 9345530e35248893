"""What keeps a sweep from cores of this host is said before anything is measured."""

import pytest
import swept

from spikemark import launch
from spikemark.launch import cgroups, host_file
from spikemark.running import sweeps

#: (quota in cores, cores that a mask hides) -> words of the sentences.
SAID = [
    (None, 0, []),
    (4.0, 0, []),
    (64.0, 0, []),
    (1.0, 0, ["1 of 4 cores; 2 runs on more threads"]),
    (2.5, 0, ["2.5 of 4 cores; 0 runs on more threads"]),
    (None, 2, ["4 of 6 cores (taskset)"]),
    (0.5, 1, ["0.5 of 4 cores; 2 runs on more threads", "4 of 5 cores (taskset)"]),
]


@pytest.mark.parametrize(("quota", "hidden", "expected"), SAID)
def test_a_quota_and_a_mask_are_said_before(quota, hidden, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(cgroups, "quota_cores", lambda: quota)
    monkeypatch.setattr(launch, "core_threads", lambda: [0, 1, 2, 3])
    monkeypatch.setattr(launch, "hidden_cores", lambda: hidden)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    results, runs = swept.planned(tmp_path, seeds=[1, 2])
    sentences = sweeps.remarks(runs)
    assert len(sentences) == len(expected)
    assert all(words in sentence for words, sentence in zip(expected, sentences, strict=True))
    assert all(sentence in sweeps.dry_run(runs, results, []).lines for sentence in sentences)


#: Cores of this host, a host file or none -> words of the sentences about runs on 1 and 2 ranks.
CROWDED = [
    (2, None, []),
    (1, None, ["2 of 4 runs"]),
    (1, "n0 slots=1\nn1 slots=1\n", []),
]


@pytest.mark.parametrize(("cores", "hosts", "expected"), CROWDED)
def test_threads_that_share_cores_are_said_before(cores, hosts, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(cgroups, "quota_cores", lambda: None)
    monkeypatch.setattr(launch, "core_threads", lambda *cpus: list(range(cores)))
    monkeypatch.setattr(launch, "hidden_cores", lambda: 0)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.delenv(host_file.VARIABLE, raising=False)
    if hosts is not None:
        file = tmp_path / "hosts"
        file.write_text(hosts)
        monkeypatch.setenv(host_file.VARIABLE, str(file))
    _, runs = swept.planned(tmp_path, seeds=[1, 2], ranks=[1, 2])
    sentences = sweeps.remarks(runs)
    assert len(sentences) == len(expected)
    assert all(words in sentence for words, sentence in zip(expected, sentences, strict=True))

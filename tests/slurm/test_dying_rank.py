"""A rank that cannot go on ends the job, also where the launcher does not end the others."""

import json

from checkout import MINIAPP

#: 2 GB of ring buffers; a rank that may not have its share ends while the other one waits for it.
NEURONS = {"name": "a", "size": 1000000, "neuron": {"model": "ignore_and_fire", "rate_hz": 1}}
DELAY = {"mean": 100, "sd": 0, "min": 100, "max": 100}
SYNAPSES = {"source": "a", "target": "a", "indegree": 1, "delay": DELAY}
NETWORK = {
    "format_version": 1,
    "time": {"simulate_ms": 1},
    "schedule": "conventional",
    "network": {"populations": [NEURONS], "projections": [SYNAPSES]},
}
LIMIT = '[ $SLURM_PROCID = 1 ] && ulimit -v 900000; exec "$@"'


def test_a_rank_without_memory_ends_the_job(slurm, tmp_path):
    description = tmp_path / "run.json"
    description.write_text(json.dumps(NETWORK))
    bare = [
        "srun",
        "--mpi=pmix",
        "--ntasks=2",
        "--nodes=2",
        "--no-kill",
        "--kill-on-bad-exit=0",
        "--mem=0",
    ]
    program = [MINIAPP, description, "--out", tmp_path / "out"]
    done = slurm.run(*bare, "sh", "-c", LIMIT, "sh", *program, timeout=50)
    assert done.returncode != 0
    assert "out of memory" in done.stderr
    assert not (tmp_path / "out/record.json").exists()

"""The private Slurm is what its tests take it for."""

import os


def test_each_rank_sees_its_node_and_a_core_of_its_own(slurm):
    done = slurm.run("srun", "--nodes=2", "--ntasks=2", "sh", "-c", "echo $(uname -n) $(taskset -cp $$)")
    nodes, cores = zip(
        *((line.split()[0], line.split()[-1]) for line in done.stdout.splitlines()), strict=True
    )
    assert sorted(nodes) == ["n1", "n2"]
    if len(os.sched_getaffinity(0)) > 1:
        assert cores[0] != cores[1]


def test_batch_jobs_run_and_leave_the_queue(slurm, tmp_path):
    out = tmp_path / "out"
    wrapped = "--wrap=srun --ntasks=4 --ntasks-per-node=2 uname -n"
    slurm.run("sbatch", "--nodes=2", "--ntasks-per-node=2", f"--output={out}", wrapped)
    slurm.wait_until_empty()
    assert sorted(out.read_text().split()) == ["n1", "n1", "n2", "n2"]

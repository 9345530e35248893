#!/bin/bash
# A hand-written job: one allocation works through all missing runs of an experiment. In the checkout:
#
#     sbatch workflows/clusters/sbatch/one-allocation.sh smoke
#
# Further arguments go to `spikemark sweep`. `spikemark sweep smoke --profile slurm` writes and submits such a job by
# itself, with nodes and time computed from the runs. Options before the script replace those below: sbatch --nodes=4 …
#SBATCH --job-name=spikemark
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=01:00:00
#SBATCH --output=spikemark-%j.log

# There is no srun before the sweep, since the sweep starts the ranks of each run with srun, one run after another.
exec spikemark sweep "$@"

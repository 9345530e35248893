#!/bin/bash
# One allocation works through all runs of an experiment, one after another; srun starts the ranks of each. In the
# checkout, as often as it may take several jobs (they wait for each other, and go on where the one before ended):
#
#     sbatch --nodes=2 workflows/clusters/allocation.sh --configfile workflows/experiments/demo.yaml
#
# Options before the script replace those below. From TERM on, Snakemake begins no further run, but ends the one at work:
# @300 must be longer than any run takes. MODULES="GCC OpenMPI" names modules of the site to load.
#SBATCH --job-name=spikemark
#SBATCH --dependency=singleton
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@300
#SBATCH --no-requeue
#SBATCH --output=spikemark-%j.log

if [ -n "$MODULES" ]; then
    # A job does not read the start-up files of a login shell, in which sites define the command `module`.
    for definition in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh; do
        if ! command -v module >/dev/null && [ -r "$definition" ]; then . "$definition"; fi
    done
    # shellcheck disable=SC2086 # several words
    module load $MODULES || exit
fi

# `spikemark run` leaves a run to the next job that would not end before this one, and then sends TERM here.
export SPIKEMARK_BATCH=$$
if [ -z "$SPIKEMARK_JOB_ENDS" ] && end=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%e 2>/dev/null); then
    SPIKEMARK_JOB_ENDS=$(date -d "$end" +%s 2>/dev/null)
    export SPIKEMARK_JOB_ENDS
fi

snakemake "$@" &
trap 'over=yes; kill -TERM $!' TERM
wait $! || wait $!
status=$?
[ "$over" ] && exit 0 # else a job that did its part would count as failed
exit $status

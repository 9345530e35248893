#!/bin/bash
# Nodes with hyperthreads: the job takes whole nodes and uses one hardware thread of every core. In the checkout:
#
#     sbatch workflows/clusters/sbatch/one-thread-per-core.sh smoke
#
# `spikemark sweep` starts every run with this hint, too. It is also said here so that whatever else this job
# starts sees cores, not hardware threads. Sites that switch hyperthreads off by a feature of nodes name it:
# sbatch --constraint=FEATURE …
#SBATCH --job-name=spikemark
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
#SBATCH --output=spikemark-%j.log

exec spikemark sweep "$@"

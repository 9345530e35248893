#!/bin/bash
# Nodes with hyperthreads: the job takes whole nodes and uses one hardware thread of every core. In the checkout:
#
#     sbatch workflows/clusters/sbatch/one-thread-per-core.sh smoke
#
# `spikemark sweep` starts every run with this hint anyway. The hint also stands here so that whatever else this job
# starts sees cores, not hardware threads. If your site switches hyperthreads off by a feature of nodes, ask for the
# feature: sbatch --constraint=FEATURE …
#SBATCH --job-name=spikemark
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
#SBATCH --output=spikemark-%j.log

exec spikemark sweep "$@"

#!/bin/bash
# A site with environment modules: the job loads what the mini-app was built with. In the checkout:
#
#     MODULES="GCC OpenMPI" sbatch workflows/clusters/sbatch/modules.sh smoke
#
# Load the same modules when you build. Their names are written into launch.json beside every record.
#SBATCH --job-name=spikemark
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=01:00:00
#SBATCH --output=spikemark-%j.log

# A job does not read the start-up files of a login shell, in which sites define the command `module`.
for definition in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh; do
    if ! command -v module >/dev/null && [ -r "$definition" ]; then . "$definition"; fi
done
set -e
module purge
# shellcheck disable=SC2086 # MODULES may hold several words
module load ${MODULES:?names the modules that the mini-app was built with}
exec spikemark sweep "$@"

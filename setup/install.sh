#!/usr/bin/env bash
# Installs what building, testing and measuring need, unless it is already there:
#   system   Debian and Ubuntu packages named in setup/apt.txt (needs root or sudo)
#   python   .venv with the package `spikemark` and its workflow, at the versions of setup/constraints.txt
#   tests    the same, and on top of it what tests and `make format` need
#   docs     the same as python, and on top of it what makes the site of the documentation
# Without arguments, installs system and python. In an active conda environment named `spikemark` (environment.yml) only the
# package `spikemark` is added to it. The exit status is 2 if something is missing that this script cannot install.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly conda='conda env create -f environment.yml && conda activate spikemark'
readonly random123='https://github.com/DEShawResearch/random123'
readonly oldest='3.11'

fail() {
    echo "setup: $1" >&2
    exit 2
}

missing_packages() {
    local package
    sed 's/#.*//' setup/apt.txt | while read -r package; do
        if [[ -n $package ]] && [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            echo "$package"
        fi
    done
}

# Sets `as_root` to the prefix that runs a command as root; fails if there is no way.
find_root() {
    as_root=()
    if [[ $(id -u) == 0 ]]; then return 0; fi
    if ! command -v sudo >/dev/null; then return 1; fi
    as_root=(sudo)
    # With a terminal, sudo may ask for the password; without one it must not.
    [[ -t 0 ]] || sudo -n true 2>/dev/null
}

install_system() {
    if ! command -v dpkg-query >/dev/null; then
        fail "not Debian or Ubuntu: see setup/apt.txt for what is needed, or: $conda"
    fi
    local -a missing as_root
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]} == 0)); then return; fi
    if ! command -v apt-get >/dev/null || ! find_root; then
        fail "missing packages: ${missing[*]}; installing them needs root or sudo; without: $conda"
    fi
    echo "setup: installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

find_python() {
    local python
    for python in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$python" -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (${oldest/./, }))" 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    fail "Python >= $oldest with venv is needed and was not found (apt-get install python3.11-venv, or: $conda)"
}

# Identifies the contents and the place of the environment: one that was moved or has other contents is made anew.
fingerprint() {
    { pwd && cat setup/constraints.txt setup/install.sh pyproject.toml; } | sha256sum
}

# A stamp is written last: what was interrupted has none.
is_complete() {
    [[ -x .venv/bin/python && -f .venv/$1 && $(<".venv/$1") == "$now" ]]
}

add() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -c setup/constraints.txt -e ".[$1]"
    echo "$now" >".venv/$2"
}

install_python() {
    local python now
    now=$(fingerprint)
    if is_complete python; then return; fi
    python=$(find_python)
    echo "setup: making .venv with $("$python" --version) (downloads packages: a minute or two)"
    rm -rf .venv
    "$python" -m venv .venv
    add sweep,scorep python
}

# Adds to .venv what $2, `tests` or `docs`, needs: the extra $1 of pyproject.toml.
install_more() {
    local now
    install_python
    now=$(fingerprint)
    if is_complete "$2"; then return; fi
    echo "setup: adding what $2 need to .venv"
    add "sweep,scorep,$1" "$2"
}

install_conda() {
    local tool
    for tool in python cmake ninja mpirun; do
        if [[ ! -x $CONDA_PREFIX/bin/$tool ]]; then
            fail "the conda environment has no $tool: conda env update -f environment.yml"
        fi
    done
    if [[ ! -f $CONDA_PREFIX/include/Random123/philox.h ]]; then
        fail "conda has no Random123: git clone $random123 && cp -r random123/include/Random123 '$CONDA_PREFIX/include'"
    fi
    if ! (cd / && "$CONDA_PREFIX/bin/python" -c 'import spikemark' 2>/dev/null); then
        "$CONDA_PREFIX/bin/python" -m pip install --quiet --no-deps --no-build-isolation -e .
    fi
}

if [[ -n ${CONDA_PREFIX:-} && ${CONDA_PREFIX##*/} == spikemark ]]; then
    install_conda
    exit
fi
case ${1:-all} in
    all)
        install_system
        install_python
        ;;
    system) install_system ;;
    python) install_python ;;
    tests) install_more test tests ;;
    docs) install_more docs docs ;;
    *) fail "unknown argument $1: expected system, python, tests, docs, or none for the first two" ;;
esac

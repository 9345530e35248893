#!/usr/bin/env bash
# Makes .venv-peers with the simulators of requirements.txt, unless it is there already: `spikemark peers` runs them
# there, so that they do not affect the project's own environment. Exit status 2 if that is not possible.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly environment=.venv-peers
readonly stamp=$environment/complete

fail() {
    echo "peers: $1" >&2
    exit 2
}

# Uses the Python of the project's environment, which is new enough, or else that of the system.
find_python() {
    local python
    for python in ${CONDA_PREFIX:+"$CONDA_PREFIX/bin/python"} .venv/bin/python python3; do
        if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    fail "Python >= 3.11 with venv is needed and was not found: run make setup first"
}

# Identifies the contents and the place of the environment: one that was moved or has other contents is made anew.
now=$({ pwd && cat workflows/peers/install.sh workflows/peers/requirements.txt setup/constraints.txt; } | sha256sum)
if [[ -x $environment/bin/python && -f $stamp && $(<"$stamp") == "$now" ]]; then exit; fi
python=$(find_python)
echo "peers: making $environment with $("$python" --version)"
rm -rf "$environment"
"$python" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary nest-simulator \
    -c setup/constraints.txt -r workflows/peers/requirements.txt ||
    fail "pip could not install workflows/peers/requirements.txt; its message is above"
# Written last: an environment without it was interrupted and is made anew.
echo "$now" >"$stamp"

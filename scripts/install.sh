#!/usr/bin/env bash
# Install packages into a virtual environment by uv, which unpacks wheels on all cores: half a minute for what takes pip
# two. Where uv does not run or does not find a package, pip installs, or says what is wrong.
#   scripts/install.sh PYTHON REQUIREMENT...     the versions are those of constraints.txt
set -euo pipefail

python=$1
shift
wanted=(-q -c constraints.txt "$@")

of() { # of OPTION: what pip is configured with, which uv does not read
    local variable
    variable=PIP_$(tr a-z- A-Z_ <<<"$1")
    [ -n "${!variable:-}" ] && echo "${!variable}" || "$python" -m pip config get "global.$1" 2>/dev/null || true
}

by_uv() {
    "$python" -m pip install -q -c constraints.txt uv || return
    local name value
    for name in index-url extra-index-url find-links; do
        value=$(of $name | tr '\n' ' ' | xargs)
        [ -n "$value" ] && export "UV_$(tr a-z- A-Z_ <<<"$name")=$value"
    done
    # The best version of all indices, as pip takes it.
    UV_INDEX_STRATEGY=unsafe-best-match "$python" -m uv pip install --python "$python" "${wanted[@]}"
}

by_uv || "$python" -m pip install --no-compile "${wanted[@]}"

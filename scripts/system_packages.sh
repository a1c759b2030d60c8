#!/usr/bin/env bash
# Make sure that the system has what pip cannot install. Arguments, any of:
#   venv      Python's own installer of pip (Debian ships it apart from python3)
#   compiler  a C++ compiler and Python's headers (the PyPI package meshoptimizer comes as source)
#   gl        OpenGL without a display (Mesa through EGL), for the GL kernels and their tests
#   window    a display in memory (Xvfb), for the tests of windows, which are skipped without one
# On Debian and Ubuntu as root it installs what is missing; elsewhere it prints what to do and goes on.
# Silent when nothing is missing.
set -euo pipefail

python=${PYTHON:-python3}
missing=()

need() { # need REASON PACKAGE...
    echo "system packages: $1 is missing, needed: ${*:2}"
    missing+=("${@:2}")
}

has_headers() {
    "$python" -c 'import pathlib, sysconfig as s; raise SystemExit(not pathlib.Path(s.get_path("include"), "Python.h").exists())'
}

for what in "$@"; do
    case $what in
    venv) "$python" -c 'import ensurepip' 2>/dev/null || need "Python's ensurepip" python3-venv ;;
    compiler)
        command -v "${CXX:-g++}" >/dev/null || command -v c++ >/dev/null || need "a C++ compiler" g++ libc6-dev
        has_headers || need "Python.h" python3-dev
        ;;
    gl) ldconfig -p 2>/dev/null | grep -q libEGL_mesa || need "Mesa's EGL" libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libglx-mesa0 ;;
    window) command -v Xvfb >/dev/null || need "Xvfb" xvfb ;;
    *) echo "unknown argument: $what" >&2; exit 2 ;;
    esac
done

[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "system packages: installing with apt-get"
    apt-get update -qq || echo "system packages: apt-get update failed, going on with the lists that are here" >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
    echo "system packages: please install them; on Debian or Ubuntu: sudo apt-get install ${missing[*]}" >&2
fi

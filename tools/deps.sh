#!/bin/sh
# deps.sh PURPOSE: makes sure that the Debian packages for a purpose are there.
#   build       to build the library and the command
#   demo        build, and to draw the picture
#   check       what make check uses
#   check-deep  what make check-deep uses: all of that, and spin, Fortran, Node.js
#   traces      build, and the programs whose traces tests/traces has
#   web         to make the page of reports (web/dist) anew
# Installs what is missing with apt-get: as root, or with sudo where that asks for no password
# (or a person sits at the terminal). Otherwise says which packages to ask for, and fails.
set -eu

build="gcc libc6-dev cmake ninja-build libmetis-dev libjansson-dev libibnetdisc-dev libibmad-dev
       libibumad-dev libopensm-dev libotf2-trace-dev libsqlite3-dev libopenmpi-dev"
demo="$build graphviz"
check="$build graphviz clang libclang-rt-14-dev llvm clang-format libcmocka-dev libigraph-dev python3
       ibsim-utils infiniband-diags opensm ibutils pkg-config mandoc git openmpi-bin strace
       chromium"
web="nodejs npm"
deep="$check $web spin gfortran"
traces="$build openmpi-bin python3 lammps lammps-data hpcc"
# Wanted by single tests, which say so when they have to be skipped (.ci/run does not let them): munge's set-up does not work
# everywhere (in a chroot whose root others cannot read, say).
wanted="slurmctld slurmd slurm-client munge"

case "${1:-}" in
build) packages=$build ;;
demo) packages=$demo ;;
check) packages=$check ;;
check-deep) packages=$deep ;;
traces) packages=$traces ;;
web) packages=$web ;;
*) echo "usage: tools/deps.sh build|demo|check|check-deep|traces|web" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    # Not Debian: trust that the tools are there and let the build complain.
    [ "$1" = web ] && tools="node npm" || tools="cmake ninja cc"
    for tool in $tools; do
        command -v $tool >/dev/null 2>&1 || {
            echo "deps: no dpkg here; install what corresponds to Debian's: $packages" >&2; exit 1; }
    done
    exit 0
fi

# Those of the given packages that are not installed. Node.js and browsers often come from elsewhere:
# there the command counts.
absent() {
    for package in "$@"; do
        case $package in
        nodejs) command -v node >/dev/null 2>&1 && continue ;;
        npm | chromium) command -v "$package" >/dev/null 2>&1 && continue ;;
        esac
        status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || printf ' %s' "$package"
    done
}

missing=$(absent $packages)
case $1 in check*) extra=$(absent $wanted) ;; *) extra= ;; esac
[ -n "$missing$extra" ] || exit 0

skipped="the tests that use them will be skipped"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 &&
    { sudo -n true 2>/dev/null || { [ -n "$missing" ] && [ -t 0 ]; }; }; then
    as_root=sudo
elif [ -z "$missing" ]; then # nothing that must be there
    echo "deps: these Debian packages are missing:$extra: $skipped"
    exit 0
else
    echo "deps: these Debian packages are missing, and there is neither root nor sudo here." >&2
    echo "deps: ask your administrator for:$missing" >&2
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y --no-install-recommends "$@" \
        >"$log" 2>&1
}

if [ -n "$missing" ]; then
    echo "deps: installing$missing"
    # The package lists of a new machine are empty or old: refresh them only if that helps.
    if ! install $missing; then
        $as_root apt-get update >"$log" 2>&1 || { tail -5 "$log" >&2; exit 1; }
        install $missing || { tail -20 "$log" >&2; echo "deps: apt-get install failed" >&2; exit 1; }
    fi
fi
if [ -n "$extra" ]; then
    echo "deps: installing$extra"
    if ! install $extra; then
        $as_root apt-get purge -y $extra >/dev/null 2>&1 || true
        echo "deps: could not install$extra: $skipped"
    fi
fi

#!/bin/sh
# deps.sh PURPOSE: makes sure that the Debian packages for a purpose are there.
#   build  to build the library and the command
#   demo   build, and to draw the picture
#   check  everything the tests and checks use
# Installs what is missing with apt-get: as root, or with sudo where that asks for no password
# (or a person sits at the terminal). Otherwise says which packages to ask for, and fails.
set -eu

build="gcc libc6-dev cmake ninja-build libmetis-dev libjansson-dev"
demo="$build graphviz"
check="$build graphviz clang libclang-rt-14-dev clang-format libcmocka-dev libigraph-dev python3
       ibsim-utils infiniband-diags opensm slurmctld slurm-client munge pkg-config mandoc git"

case "${1:-}" in
build) packages=$build ;;
demo) packages=$demo ;;
check) packages=$check ;;
*) echo "usage: tools/deps.sh build|demo|check" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    # Not Debian: trust that the tools are there and let the build complain.
    for tool in cmake ninja cc; do
        command -v $tool >/dev/null 2>&1 || {
            echo "deps: no dpkg here; install what corresponds to Debian's: $packages" >&2; exit 1; }
    done
    exit 0
fi

missing=
for package in $packages; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=sudo
else
    echo "deps: these Debian packages are missing, and there is neither root nor sudo here." >&2
    echo "deps: ask your administrator for:$missing" >&2
    exit 1
fi

echo "deps: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y --no-install-recommends $missing \
        >"$log" 2>&1
}
# The package lists of a new machine are empty or old: refresh them only if that helps.
if ! install; then
    $as_root apt-get update >"$log" 2>&1 || { tail -5 "$log" >&2; exit 1; }
    install || { tail -20 "$log" >&2; echo "deps: apt-get install failed" >&2; exit 1; }
fi

#!/bin/sh
# check.sh quick|deep: what must hold before a change lands, in two tiers.
#
#   quick  make check: a part of everything, in ten minutes on two quiet cores from a clean clone
#   deep   make check-deep: everything else, in 35 minutes
#
# Each step prints one line with its seconds; the first that fails ends the run with its output. At
# the end: the ten slowest tests, those that were skipped, and those that failed once (flaky).
#
#   SELVAGE_TRIALS        a factor on all trials (quick: 0.1, deep: 1)
#   SELVAGE_MUTANTS       which mutants (quick: changed, deep: all; tests/support/mutate.py)
#   SELVAGE_FUZZ_SECONDS  how long each fuzz target runs in the deep tier (6)
set -eu
tier=${1:-}
case $tier in
quick | deep) ;;
*) echo "usage: tools/check.sh quick|deep" >&2; exit 2 ;;
esac
jobs=$(nproc)
at_once=$((jobs + 3)) # tests: half of their time they wait, for Ctrl-C, for what they started
temporary=$(mktemp -d)
log=$temporary/log
results=$temporary/results
: >"$results"
trap 'rm -rf "$temporary"' EXIT
begin=$(date +%s)
export SELVAGE_REQUIRE_LIVE=1

step() {
    name=$1
    shift
    start=$(date +%s)
    if "$@" >"$log" 2>&1; then
        echo "ok    $name ($(($(date +%s) - start)) s)"
        sed -n '/^failed once: /,/^flaky: /p' "$log"
    else
        echo "FAIL  $name ($(($(date +%s) - start)) s)"
        cat "$log"
        summary
        exit 1
    fi
}

# What of all tests is worth knowing.
summary() {
    [ -s "$results" ] || return 0
    echo "slowest tests:"
    sort -rn "$results" | head -10 | awk '{printf "  %7.1f s  %s\n", $1, $3}'
    sed -n 's/^[0-9.]* skipped /skipped: /p; s/^0 part /skipped in /p' "$results" | sort -u
    flaky=$(grep -c '^[0-9.]* flaky ' "$results" || true)
    [ "$flaky" = 0 ] || {
        echo "flaky: $flaky of $(grep -cv '^0 part ' "$results") tests failed once and passed then:"
        sed -n 's/^[0-9.]* flaky /  /p' "$results"
    }
}

layout() { git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format --dry-run -Werror; }

# DIRECTORY COMPILER TARGETS CMAKE-OPTIONS…
build() {
    directory=$1
    compiler=$2
    targets=$3
    shift 3
    CC=$compiler cmake -S . -B "$directory" -G Ninja -DSELVAGE_WERROR=ON -DSELVAGE_TESTS=ON "$@"
    cmake --build "$directory" -j "$jobs" --target $targets
}

# The sanitized build serves tests and fuzz targets alike.
sanitized() {
    build build/asan clang "$1" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" -DSELVAGE_FUZZ=ON \
        -DSELVAGE_SANITIZE=address,undefined
}

# DIRECTORY TRIALS CTEST-OPTIONS…
tests() {
    directory=$1
    trials=$2
    shift 2
    SELVAGE_TRIALS=${SELVAGE_TRIALS:-$trials} tools/tests.py "$directory" --results "$results" \
        -j "$at_once" "$@"
}

# The libraries have no mutable globals but the lock around METIS (docs/decisions/0004).
globals() {
    found=$(objdump -t build/check/libselvage.a build/check/libselvage_discover.a \
        build/check/libselvage_study.a |
        awk '$4 ~ /^\.(data|bss|tdata|tbss)$/ || $3 ~ /^\.(data|bss|tdata|tbss)$/ {print $NF}' |
        grep -vE '^\.(data|bss)|^metis_lock$' || true)
    [ -z "$found" ] || { echo "mutable globals: $found"; return 1; }
}

without_options() {
    cmake -S . -B build/bare -G Ninja -DSELVAGE_WERROR=ON -DSELVAGE_METIS=OFF -DSELVAGE_JANSSON=OFF \
        -DSELVAGE_OTF2=OFF -DSELVAGE_IBNETDISC=OFF -DSELVAGE_OPENSM=OFF -DSELVAGE_SQLITE=OFF
    cmake --build build/bare -j "$jobs"
    build/bare/selvage --version | grep -q '(threads)'
    build/bare/selvage info mesh:2x2 | grep -q 'no METIS'
    build/bare/selvage discover 2>&1 | grep -q 'built without libibnetdisc'
}

quick() {
    export SELVAGE_MUTANTS=${SELVAGE_MUTANTS:-changed}
    step "layout of the code (clang-format)" layout
    step "folders include only those above them" tools/layers.py
    step "build with gcc, warnings are errors" build build/check gcc all
    step "no mutable globals" globals
    step "cli, docs, oracles (fewer trials), mutants of what changed, one run with OpenSM and ibsim, one page" \
        tests build/check 0.1 -L 'cli|docs|oracle|live|web' -LE deep
    step "build with ASan and UBSan (unit and oom tests, fuzz targets)" sanitized sanitized
    step "unit and oom tests with ASan, UBSan and LeakSanitizer" \
        tests build/asan 0.1 -L 'unit|oom' -LE deep
    step "every fuzz target over its corpus" tools/fuzz.sh 0
}

deep() {
    export SELVAGE_MUTANTS=${SELVAGE_MUTANTS:-all}
    step "the shipped page is what its sources give" tools/web.sh check
    step "build with gcc, warnings are errors" build build/check gcc all
    step "oracles with all trials, mutants, models, building and installing" \
        tests build/check 1 -L 'oracle|model|docs' -LE again
    step "all tests with the real OpenSM, ibsim, Slurm, MPI, and Chromium" \
        tests build/check 1 -L 'live|web' -LE quick
    step "unit and oom tests with gcc, all trials" tests build/check 1 -L 'unit|oom'
    step "build with clang, warnings are errors" build build/clang clang all
    step "unit and oom tests with clang" tests build/clang 0.2 -L 'unit|oom'
    step "build with ASan and UBSan" sanitized all
    # Mutants and models say nothing about memory.
    step "all other tests with ASan, UBSan and LeakSanitizer" \
        tests build/asan 0.2 -LE 'unit|oom|live|web|model' -E mutate_
    step "the plugin inside the real OpenSM with ASan and UBSan" \
        tests build/asan 1 -L sanitized-live
    step "build without the optional parts" without_options
    step "fuzzing, ${SELVAGE_FUZZ_SECONDS:-6} s a target" tools/fuzz.sh "${SELVAGE_FUZZ_SECONDS:-6}"
}

$tier
summary
echo "all checks passed in $(($(date +%s) - begin)) s"

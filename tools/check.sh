#!/bin/sh
# check.sh: everything that must hold before a change lands. Each step says what it is and how long
# it took; the first that fails ends the run with its output. SELVAGE_FUZZ_SECONDS sets how long
# each fuzz target runs (10).
set -eu
jobs=$(nproc)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
begin=$(date +%s)

step() {
    name=$1
    shift
    start=$(date +%s)
    if "$@" >"$log" 2>&1; then
        echo "ok    $name ($(($(date +%s) - start)) s)"
        sed -n 's/.*Test *#[0-9]*: \([^ ]*\) \.*\*\*\*Skipped.*/      skipped: \1/p' "$log"
    else
        echo "FAIL  $name"
        cat "$log"
        exit 1
    fi
}

layout() { git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format --dry-run -Werror; }

# DIRECTORY COMPILER CMAKE-OPTIONS…
build() {
    directory=$1
    compiler=$2
    shift 2
    CC=$compiler cmake -S . -B "$directory" -G Ninja -DSELVAGE_WERROR=ON -DSELVAGE_TESTS=ON "$@"
    cmake --build "$directory" -j "$jobs"
}

# DIRECTORY CTEST-OPTIONS…
tests() {
    directory=$1
    shift
    SELVAGE_REQUIRE_LIVE=1 ctest --test-dir "$directory" -j "$jobs" --output-on-failure \
        --no-tests=error "$@"
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

step "layout of the code (clang-format)" layout
step "folders include only those above them" tools/layers.py
step "build with gcc, warnings are errors" build build/check gcc
step "no mutable globals" globals
step "all tests" tests build/check
step "build with clang, warnings are errors" build build/clang clang
step "unit tests with clang" tests build/clang -L unit
step "build with ASan and UBSan" build build/asan clang -DSELVAGE_SANITIZE=address,undefined
# Mutants and models say nothing about memory.
step "tests with ASan, UBSan and LeakSanitizer" tests build/asan -LE 'live|model' -E mutate_
step "build without the optional parts" without_options
step "fuzzing, ${SELVAGE_FUZZ_SECONDS:-10} s a reader" tools/fuzz.sh "${SELVAGE_FUZZ_SECONDS:-10}"
echo "all checks passed in $(($(date +%s) - begin)) s"

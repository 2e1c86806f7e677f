#!/bin/sh
# tsan.sh [PATTERN]: tests of what runs on several threads, under ThreadSanitizer. Any report fails.
# PATTERN: of ctest -R.
set -eu
cd "$(dirname "$0")/.."
tests=${1:-^unit/test_(sim_parts|sim_source|traffic_runs|base|loads|metrics)\$}
# The programs of these tests, and nothing else.
CC="${CC:-clang}" cmake -S . -B build/tsan -G Ninja -DSELVAGE_WERROR=ON -DSELVAGE_TESTS=ON \
    -DSELVAGE_SANITIZE=thread >/dev/null
programs=$(ctest --test-dir build/tsan -N -R "$tests" | sed -n 's|.*: unit/\(.*\)|unit_\1|p')
[ -n "$programs" ] || { echo "tsan.sh: no unit test is called '$tests'" >&2; exit 2; }
# shellcheck disable=SC2086
cmake --build build/tsan --target $programs
TSAN_OPTIONS="halt_on_error=1 exitcode=66 second_deadlock_stack=1" \
    ctest --test-dir build/tsan --output-on-failure --no-tests=error -R "$tests"

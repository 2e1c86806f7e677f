#!/bin/sh
# fuzz.sh SECONDS [TARGET…]: runs fuzz targets (all of them), several at once, each for so many
# seconds, starting from tests/fuzz/corpus; 0: over that corpus only, without new inputs. Builds them
# with clang if need be (in build/asan, which tools/check.sh uses, too). New finds go to
# build/fuzz/corpus, inputs that crash to build/fuzz/crashes.
set -eu
seconds=$1
shift
build=build/asan
out=build/fuzz
mkdir -p $out/crashes
# Inputs that are files are made in memory, and are gone afterwards even if a target crashes.
SELVAGE_FUZZ_FOLDER=$(mktemp -d /dev/shm/selvage-fuzz.XXXXXX 2>/dev/null || mktemp -d)
export SELVAGE_FUZZ_FOLDER
trap 'rm -rf "$SELVAGE_FUZZ_FOLDER"' EXIT
trap 'exit 130' HUP INT TERM
CC=clang cmake -S . -B $build -G Ninja -DSELVAGE_WERROR=ON -DSELVAGE_TESTS=ON -DSELVAGE_FUZZ=ON \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g1" \
    -DSELVAGE_SANITIZE=address,undefined >/dev/null
cmake --build $build --target fuzz_targets >$out/build.log 2>&1 || { tail -30 $out/build.log; exit 1; }
targets=${*:-$(cat $build/tests/fuzz/targets.txt)}

# One target; what it has to say is one line, or why it failed.
one='
    seconds=$1 build=$2 out=$3 target=$4
    mkdir -p $out/corpus/$target
    if [ "$seconds" = 0 ]; then
        how=-runs=0
        where=tests/fuzz/corpus/$target
    else
        how=-max_total_time=$seconds
        where="$out/corpus/$target tests/fuzz/corpus/$target"
    fi
    if ! $build/tests/fuzz/fuzz_$target $how -timeout=20 -rss_limit_mb=2048 -max_len=4096 \
        -artifact_prefix=$out/crashes/$target- -print_final_stats=1 $where >$out/$target.log 2>&1; then
        echo "fuzz: $target failed:"
        grep -E "ERROR|SUMMARY|MUST|fuzz.*\.c|Test unit" $out/$target.log | head -10
        exit 1
    fi
    runs=$(sed -n "s/^stat::number_of_executed_units: *//p" $out/$target.log)
    echo "fuzz: $target: $runs runs, no finding"
'
printf '%s\n' $targets | xargs -P "$(nproc)" -I TARGET sh -c "$one" fuzz "$seconds" $build $out TARGET

#!/bin/sh
# fuzz.sh SECONDS [TARGET…]: builds the fuzz targets with clang and runs each for so long, starting
# from tests/fuzz/corpus. New finds go to build/fuzz/corpus, crashes to build/fuzz/crashes.
set -eu
seconds=$1
shift
build=build/fuzz
CC=clang cmake -S . -B $build -G Ninja -DSELVAGE_FUZZ=ON -DSELVAGE_WERROR=ON \
    -DSELVAGE_SANITIZE=address,undefined,fuzzer-no-link >/dev/null
cmake --build $build >$build.log 2>&1 || { tail -30 $build.log; exit 1; }
targets=${*:-ibnetdiscover subnet netloc cray auto spec faults guids jobmap lfts sl2vl psl mcfdbs qos svr
    proof orders torusconf messages pattern failures hostlist squeue sacct swf slurmjson mails svt goal}

fuzz_one() {
    mkdir -p $build/corpus/$1 $build/crashes
    if ! $build/tests/fuzz/fuzz_$1 -max_total_time=$seconds -timeout=20 -rss_limit_mb=2048 \
        -max_len=4096 -artifact_prefix=$build/crashes/$1- -print_final_stats=1 \
        $build/corpus/$1 tests/fuzz/corpus/$1 >$build/$1.log 2>&1; then
        echo "fuzz: $1 failed:"
        grep -E 'ERROR|SUMMARY|MUST|fuzz.c|Test unit' $build/$1.log | head -10
        return 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' $build/$1.log)
    echo "fuzz: $1: $runs runs, no finding"
}

status=0
for target in $targets; do
    fuzz_one $target || status=1
done
exit $status

#!/bin/sh
# run.sh BUILD: all benchmarks. Times mean little on a shared machine: compare within one run.
set -eu
"$1/bench/bench_fabric"
"$1/bench/bench_routes"
"$1/bench/bench_metrics"
bench/compare-opensm --build "$1"
bench/compare-discover --build "$1" --runs 1

#!/bin/sh
# make.sh SELVAGE [NAME…]: records the traces of this folder anew (all, or those named: chain, comb, hpcc). README.md tells what they are.
# Takes some minutes: 64 ranks share the cores there are. `make traces` installs what is needed and calls this.
set -eu
selvage=$(realpath "$1")
shift
folder=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# NAME COMMAND…: 64 ranks, in a folder with what the program reads.
record() {
    name=$1
    shift
    echo "recording $name"
    (cd "$work" && "$selvage" trace record --smooth -o "$folder/$name.svt" -- \
        mpirun --oversubscribe --mca mpi_yield_when_idle 1 -np 64 "$@" >"$name.log" 2>&1) || { tail -20 "$work/$name.log"; exit 1; }
    tail -1 "$work/$name.log"
}

for name in ${*:-chain comb hpcc}; do
    case $name in
    chain)
        python3 "$folder/chain.py" 32 >"$work/chain.data"
        record chain lmp -in "$folder/chain.in" -log none
        ;;
    comb)
        cp /usr/share/lammps/potentials/ffield.comb "$work"
        record comb lmp -in "$folder/comb.in" -log none
        ;;
    hpcc)
        cp "$folder/hpccinf.txt" "$work"
        record hpcc hpcc
        ;;
    *)
        echo "make.sh: '$name' is none of chain, comb and hpcc" >&2
        exit 2
        ;;
    esac
done

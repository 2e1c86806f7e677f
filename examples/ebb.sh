#!/bin/sh
# DFSSSP paper, Figs. 4 to 6: effective bisection bandwidth of XGFTs, Kautz graphs and Deimos.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study ebb -f 'ipdps-xgft-{64,128,256,512,1024,2048,4096}' -f 'ipdps-kautz-{64,128,256,512,1024,2048,4096}' -f deimos \
    --engine minhop,updn,ftree,dor,lash,sssp,dfsssp --ebb 1000 \
    --db ebb.db "$@"

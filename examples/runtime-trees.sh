#!/bin/sh
# DFSSSP paper, Fig. 7: k-ary n-trees of 64 to 4,096 terminals.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study runtime -f 'ipdps-kary-{64,128,256,512,1024,2048,4096}' --links 0 --engine minhop,updn,ftree,dor,lash,sssp,dfsssp \
    --threads 1 \
    --db runtime-trees.db "$@"

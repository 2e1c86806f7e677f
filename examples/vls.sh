#!/bin/sh
# DFSSSP paper, Fig. 9: VLs that random fabrics of 128 switches need.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study vls -f 'random:switches=128,links={140,160,180,200,220,256,384,512,768,1024},hosts=16,radix=32,seed={1..100}' --engine dfsssp,assign=weakest,lash,dfsssp \
    --vls 15 \
    --db vls.db "$@"

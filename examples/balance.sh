#!/bin/sh
# Thesis Fig. 6.10: forwarding index, longest path and fallbacks on 1,000 random fabrics, nue with 1 to 8 VLs.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study balance -f 'random:switches=125,links=1000,hosts=8,radix=36,seed={1..1000}' --engine nue --vls 1..8 --keep none \
    --db balance.db "$@"

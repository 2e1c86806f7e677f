#!/bin/sh
# DFSSSP paper, section VI: an all-to-all on Deimos under minhop and dfsssp, messages of 2 KiB to 32 KiB.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study degradation -f deimos --links 0 --engine minhop,dfsssp --message 2048,8192,32768 \
    --db deimos-exchange.db "$@"

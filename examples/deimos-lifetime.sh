#!/bin/sh
# The same for Deimos, with its own rates.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study lifetime -f deimos --years 0..8 --model deimos --seeds 1..10 --engine updn,dfsssp,nue --message 2048 \
    --threshold 0.9 \
    --db deimos-lifetime.db "$@"

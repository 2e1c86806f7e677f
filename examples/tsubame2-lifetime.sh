#!/bin/sh
# Until when does TSUBAME2 keep nine tenths of its throughput if only critical failures are repaired?
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study lifetime -f tsubame2:rail=1 --years 0,1,2,4,6,8 --model tsubame2 --seeds 1..3 --engine ftree,dfsssp \
    --message 2048 --threshold 0.9 \
    --db tsubame2-lifetime.db "$@"

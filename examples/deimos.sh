#!/bin/sh
# Thesis Fig. 4.8 and Table 4.6: Deimos, links and switches failing in its ratio of 2 to 1.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study degradation -f deimos --both 0,1%,2%,3%,4%,5%,6%,7%,8% --ratio 1:2 --seeds 1..10 \
    --engine minhop,updn,dfsssp,lash --message 2048 --cell-seconds 600 \
    --db deimos.db "$@"

#!/bin/sh
# Thesis Fig. 4.7 and Table 4.6: TSUBAME2, links and switches failing in its ratio of 13 to 1.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study degradation -f tsubame2:rail=1 --both 0,1%,2%,3%,4%,5%,6%,7%,8% --ratio 1:13 --seeds 1..3 \
    --engine ftree,updn,dfsssp --message 2048 --cell-seconds 1800 \
    --db tsubame2.db "$@"

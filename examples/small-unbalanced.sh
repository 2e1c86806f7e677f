#!/bin/sh
# The same with an uneven number of terminals on the switches (thesis Fig. 4.4b).
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study degradation -f t42-mesh2d-u -f t42-mesh3d-u -f t42-torus2d-u -f t42-torus3d-u -f t42-kautz-u -f t42-kary-u \
    -f t42-xgft-u -f t42-dragonfly-u -f t42-random-u --links 0,1%,3%,5%,10%,20%,40% --seeds 1..10 --engine all \
    --message 20480 --cell-seconds 120 \
    --db small-unbalanced.db "$@"

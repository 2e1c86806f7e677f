#!/bin/sh
# Thesis Fig. 4.4 and Table 4.4: nine small fabrics with as many terminals on each switch, 0 to 40 % of
# their links failed, ten seeds, every engine, an exchange of 10 MTU.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study degradation -f t42-mesh2d -f t42-mesh3d -f t42-torus2d -f t42-torus3d -f t42-kautz -f t42-kary -f t42-xgft \
    -f t42-dragonfly -f t42-random --links 0,1%,3%,5%,10%,20%,40% --seeds 1..10 --engine all --message 20480 \
    --cell-seconds 120 \
    --db small-balanced.db "$@"

#!/bin/sh
# Thesis Fig. 4.6 and Table 4.5: large fabrics, 1 to 8 % of their links failed, an exchange of 1 MTU.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study degradation -f f46-kary10 -f f46-kary14 -f f46-torus -f f46-dragonfly -f f46-kautz --links 0,1%,2%,3%,4%,5%,6%,7%,8% \
    --seeds 1..3 --engine dfsssp,updn,ftree,torus2qos,lash --message 2048 --cell-seconds 1800 \
    --db large.db "$@"

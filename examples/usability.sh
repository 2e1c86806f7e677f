#!/bin/sh
# Thesis Table 4.3: which engine routes which fabric, and does its exchange end.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study usability -f t42-mesh2d -f t42-mesh3d -f t42-torus2d -f t42-torus3d -f t42-kautz -f t42-kary -f t42-xgft \
    -f t42-dragonfly -f t42-random -f deimos -f tsubame2:rail=1 --engine ftree,updn,dor,torus2qos,minhop,sssp,dfsssp,lash \
    --message 20480 \
    --db usability.db "$@"

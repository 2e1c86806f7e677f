#!/bin/sh
# Thesis Fig. 6.12: 25 tori from 2x2x2 to 10x10x10, 1 % of their links failed.
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study runtime --links 1% --engine nue,dfsssp,lash,torus2qos --vls 8 --threads 1 \
    --db runtime.db "$@"

#!/bin/sh
# Thesis Fig. 4.2a: routes lost on a 10-ary 3-tree while tables stay as they are; 100 draws of failed links.
# (For 4.2b, switches: --lost switches/1,2,5,10/100.)
# What is in the database already is not run again; more options may follow (--threads 8, --json).
exec "${SELVAGE:-selvage}" study lost -f kary:k=10,n=3,total=1024 --lost links/1,2,5,10,20,50,100/100 --engine dfsssp,ftree,updn \
    --db lost.db "$@"

#!/bin/sh
# make-corpus.sh SELVAGE: makes the seeds of the fuzz targets in tests/fuzz/corpus. Small ones: the
# fuzzer finds its way from there. Formats that selvage does not write have seeds written here.
set -eu
selvage=$1
corpus=tests/fuzz/corpus
for target in ibnetdiscover subnet netloc cray auto spec faults guids jobmap lfts sl2vl psl mcfdbs qos \
    svr proof orders torusconf messages pattern failures hostlist squeue sacct swf slurmjson svt goal \
    store follow fileset status study otf2; do
    mkdir -p $corpus/$target
done

n=0
for spec in mesh:2x1,hosts=1 torus:3,hosts=2,speed=EDR kary:k=2,n=2 fullmesh:3,hosts=0,r=2; do
    n=$((n + 1))
    "$selvage" topo $spec --format ibnetdiscover -o $corpus/ibnetdiscover/$n
    "$selvage" topo $spec --format subnet -o $corpus/subnet/$n
    "$selvage" topo $spec --format cn-guids -o $corpus/guids/$n
done
printf 'Switch 8 "A" # "a" base port 0 lid 5 lmc 2\n[1] "B"[2]\n[2] "x"[1]\n[5] "A"[6]\n[6] "A"[5]\n\nSwitch 8 "B"\n[2] "A"[1]\n\nHca 2 "x"\n[1] "A"[2]\n\nRt 1 "y"\n' \
    >$corpus/ibnetdiscover/short
printf '=~ capture\r\n# Topology file\r\nswitchguid=0x5(5)\r\nSwitch41 "S-5"# "sw"\r\n[1]"H-6"[1](6) # "h" lid 65535 4xHDR\r\n\r\ncaguid=0x6\r\nCa1 "H-6"# "h"\r\n[1](6) "S-5"[1]# lid 2 lmc 0 "sw" lid 1 4xHDR\r\n\rprompt # ' \
    >$corpus/ibnetdiscover/capture
printf 'c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\nc0-0c0s0a0l04(0:0:0) blue -> unused\nc0-0c0s0a0l50(0:0:0) ptile -> processor\nc0-0c0s1a0l10(0:0:1) green -> c0-0c0s0a0l00(0:0:0)\n' \
    >$corpus/cray/1
printf '{"network_info":{"network_type":2},"node_info":{"0000:0001":{"node_type":1,"log_id":"3","desc":"'"'"'s'"'"'","edge_ids":[7]},"0000:0002":{"node_type":2,"log_id":"4","desc":"h"}},"edge_info":{"7":{"src_node_id":"0000:0001","src_port_id":"5","dest_node_id":"0000:0002","dest_port_id":"1","speed":"QDR","width":"4x"},"8":{"src_node_id":"0000:0002","src_port_id":"1","dest_node_id":"0000:0001","dest_port_id":"5","speed":"QDR","width":"4x"}}}' \
    >$corpus/netloc/1
n=0
"$selvage" topo --list --json | sed -n 's/.*"example": "\(.*\)".*/\1/p' | while read -r spec; do
    n=$((n + 1))
    printf '%s' "$spec" >$corpus/spec/$n
done
printf 't61-torus,hosts=2' >$corpus/spec/preset
printf '# list\nswitch sw0-0\nadapter host3\nport "sw1-1" 4\nlink sw2-2 3 sw1-2 4\nswitch 0x02005e1a00000002\n' \
    >$corpus/faults/1
printf 'adapter "lid 3"\n' >$corpus/faults/2
printf '# who runs what\nhost0 17\nhost1 17 # and more\n"host2" "job 18"\nhost0 18\nelsewhere 17\n' \
    >$corpus/jobmap/1
printf 'host3\n' >$corpus/jobmap/2
printf '# time from to bytes tag\n0 host0 host1 2048\n12.5 @1 @2 0 7\n3 "host3" host4/1 100000 4294967295\n' \
    >$corpus/messages/1
printf '0 @0 @5 1\n0 @5 @0 1\n' >$corpus/messages/2
n=0
for pattern in exchange uniform bitreverse shift:by=2 tornado:dims=3 stencil hotspot:senders=2,spots=1 \
    matching:rounds=3 1toN:root=2 Nto1 pingpong:pairs=far ring allreduce:by=doubling allgather \
    uniform:load=0.5,on=5us,off=3us,phases=random,rest=0.1,arrivals=regular; do
    n=$((n + 1))
    printf '%s' "$pattern" >$corpus/pattern/$n
done
printf '# what broke\n2010-09-01 link\n2010-09-01T17:30:05.5+09:00 HCA 36min # a comment\n2010-10-01 07:00 switch 2d\n2011-02-28 software -\n2012-02-29 cable 1.5h\n' \
    >$corpus/failures/1
printf '12.5h nic\n3d unspecified 90s\n0.01y link\n1y switch\n500000min link\n' >$corpus/failures/2
printf 'deimos,link=0.4%%,shape=0.76,adapter-shape=2,over=3.5' >$corpus/failures/3
printf 'n[001-018,33]-ib,login,r[1-2]n[01-03]' >$corpus/hostlist/1
printf 'n[98-102],a[1]b[2]c[3-4]' >$corpus/hostlist/2
printf '             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n               3+0     batch     wrap     root PD       0:00      1 (None)\n                 1     batch my job R     root  R       0:04      3 host[01-03]\n               2_2     batch     wrap     root  S       0:04      2 host1,host2\n' \
    >$corpus/squeue/1
printf 'Mon Nov 16 04:31:27 2026\nJOBID STATE NODES NODELIST\n1 RUNNING 3 host[1-3]\n2_[1-4] PENDING 2\n' >$corpus/squeue/2
printf '1|RUNNING|host[0-5]\n2_1|R|host6,host7\n3+0|PENDING|\n4|COMPLETING|host9\n' >$corpus/squeue/3
printf '1 RUNNING host[0-5]\n2 PD\n' >$corpus/squeue/4
printf 'JobID|State|JobName|Start|End|NodeList\n12|COMPLETED|a|2026-11-15T12:00:00|2026-11-15T13:00:00|host[1-2]\n12.batch|COMPLETED|b|Unknown|Unknown|host1\n13|CANCELLED by 5|c|Unknown|2026-11-15T12:30:00|None assigned\n14|RUNNING|d|100|Unknown|host3\n' \
    >$corpus/sacct/1
printf '; Version: 2.2\n; UnixStartTime: 1000000\n0 1000 10 50 1 1 1 1 1 1 1 1 1 1 -1 1 1 1 {7,7,12} q_2w 1:ppn=12\n1 900 0 -1 1 -1 -1 1 1 1 1 1 1 1 -1 1 1 1 {7}\n2 900 5 3.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n' \
    >$corpus/swf/1
printf '{"errors":[],"jobs":[{"job_id":1,"job_state":"RUNNING","nodes":"host[1-2]","start_time":100,"array_job_id":2,"array_task_id":1,"het_job_id":0},{"job_id":{"set":true,"number":2},"job_state":["RUNNING","RESIZING"],"job_resources":{"nodes":{"list":"host3"}},"start_time":{"set":true,"infinite":false,"number":90}},{"job_id":3,"job_state":"PENDING","nodes":""}]}' \
    >$corpus/slurmjson/1
guid=0x02005e1a0000000
printf '# comment\ntorus 4 5 2m\nxp_link '$guid'1 '$guid'b\nxm_link '$guid'1 0x02005e1a0000001f more\nyp_link '$guid'1 '$guid'3\nzp_link '$guid'1 '$guid'2\nx_dateline -1\nnext_seed\nxp_link 1 2\nym_link 1 3\nzp_link 1 4\nport_order 3 1\nportgroup_max_ports 20\nmax_changes 4\n' \
    >$corpus/torusconf/1
printf 'mesh 3t 4 5\n' >$corpus/torusconf/2
for format in ibnetdiscover subnet netloc cray; do
    cp $corpus/$format/1 $corpus/auto/$format
done

# Tables of the fabric that the targets use.
tables=$(mktemp -d)
trap 'rm -rf "$tables"' EXIT
"$selvage" route torus:3,hosts=2 --lmc 1 --engine updn -o "$tables/d" >/dev/null
"$selvage" route torus:3,hosts=2 --lmc 1 --engine minhop -o $corpus/svr/1.svr >/dev/null
mv $corpus/svr/1.svr $corpus/svr/1
cp "$tables/d/opensm-lfts.dump" $corpus/lfts/1
cp "$tables/d/opensm.fdbs" $corpus/lfts/2
cp "$tables/d/selvage.orders" $corpus/orders/1
printf 'selvage-orders 1\nlanes 2\n# a comment\n0x02005e1a00000001 3 4 - # more\n0x77 1 - -\n' \
    >$corpus/orders/2
cp "$tables/d/opensm.psl" $corpus/psl/1
printf '0x02005e1b00000011 4 3 # a comment\n@0x02005e1a00000001 5 1\n* 6 15\n' >$corpus/psl/2
head -12 "$tables/d/opensm-sl2vl.dump" >$corpus/sl2vl/1
tail -6 "$tables/d/opensm-sl2vl.dump" >>$corpus/sl2vl/1
printf '\nSwitch 0x02005e1a00000001\nLID    : Out Port(s)\n0xC000 : 0x001 0x003 \n' >$corpus/mcfdbs/1
printf '# VL arbitration\nqos_ca_high_limit 0\nqos_ca_vlarb_high 0:4,1:4\nqos_swe_vlarb_low 14:255\n' \
    >$corpus/qos/1
"$selvage" check "$tables/d" --proof $corpus/proof/1 >/dev/null
# mails/1, one mail of each kind, was made with sv_five_pack.
# Traces: their sums are put right by the target.
printf 'SVT1\n\004\001p\003\001\005\003\002\001\004\002\000\000\254\002\002\003\004\000\000\000\000\002\002\003\004\007\001\005\000\002\005\007\000\003\004\002\010\002\006\015\001\001\011\000\000########' \
    >$corpus/svt/1
printf 'SVT1\n\002\000\001\002\001\001\003\001\000\310\001\003\001\005\002\006\016\000\000\050\000\002\002\003\004\002\000\000\000\003\001\005\002\006\016\000\000\050\000\000########' \
    >$corpus/svt/2
printf 'num_ranks 3\nrank 0 {\na: send 10b to 1 tag 5 cpu 0 nic 0\nb: calc 100\nb requires a\nsend 2000b to 2\n}\nrank 1 {\nrecv 10b from -1 tag -1\n}\n// end\nrank 2 { x: recv 2000b from 0; y: calc 3 cpu 1; y irequires x; }\n' \
    >$corpus/goal/1
printf 'num_ranks 2\nrank 1 {\n/* none */\nl1: calc 1\nl2: calc 2\nl1 requires l2\n}' >$corpus/goal/2

# Stores, the policy in front (the fabric: fuzz_store.c).
"$selvage" sim kary:k=2,n=3,hosts=2 --engine updn --policy pr-drb -t hotspot:senders=3,spots=1 \
    --limit 200 --store-out "$tables/store" >/dev/null
{ printf 'pr-drb\n' && head -8 "$tables/store"; } >$corpus/store/1
printf 'pr-fr-drb:paths=2,vias=1,notify=destination\n# a comment\nhost0 host5 latency 812.5 at leaf0 path 700 - - path 640 l1-1 - flow host0 host5 flow "host1" host6/1\nhost0 host5 flow host2 host7 path 5 "lid 3" - latency 1 # mine\n' \
    >$corpus/store/2
printf 'pr-drb:apply=message,trend=8\nhost3 host4 latency 0.000001 path 0 l1-2 l2-0 path 1e3 - - flow host3 host4\n' >$corpus/store/3

# State of jobs follow.
printf '# what selvage jobs follow remembers; times are seconds since 1970\nrerouted 1700000000\nretry 0\nfailures 2\npending 1\nall 0123456789abcdef\n' \
    >$corpus/follow/1
printf 'failures 5000\nsomebody 7\r\nall 0x1\n' >$corpus/follow/2

# Directories of tables: whole, in the middle of a change, mixed, without stamps, other things.
old='# selvage generation 00000000000000aa'
new='# selvage generation 00000000000000bb'
journal='selvage-next 1\ngeneration 00000000000000bb\nhas one\nhas two\ndrops other\nhas three\n'
printf '== 1\n'"$old"'\nfirst\n== 2\nsecond '"$old"'\nmore\n== 3\nthird '"$old"'\n\n== w\n;new\ntext\n' \
    >$corpus/fileset/1
printf '== j\n'"$journal"'\n== 1\n'"$new"'\nnew\n\n== A\n'"$old"'\nold\n\n== 2\nold '"$old"'\n\n== B\nnew '"$new"'\n\n== o\n'"$old"'\n\n== C\nnew '"$new"'\n\n== w\n!x' \
    >$corpus/fileset/2
printf '== 1\n'"$old"'\n\n== 2\nx '"$new"'\n\n== w\n\007a line' >$corpus/fileset/3
printf '== 1\nnone\n== e\nlinked\n== 2\n@link e\n== 3\n@link\n== j\nselvage-next 2\n\n== w\n\017' >$corpus/fileset/4
printf '== 2\n@pipe\n== o\nplain\n== A\n@dir\n== w\n\001first' >$corpus/fileset/5

# Status files.
printf '== e\nweave\n== v\nOpenSM 3.3.23\n== p\nleave\n== f\nswitch "a\\b" is gone\n== q\nline one\nline two\377\n== i\nanother SM\n== n\n\017\002\003\000\000\000\000\000\000\000\300\152\000\000\000\000\000\000\300\152\000\000\000\000\002\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\000\000\000\000\000\000\370\077\000\000\000\000\000\000\004\100' \
    >$corpus/status/1
printf '== e\na"b\\c\nd\200\n== n\n' >$corpus/status/2
printf '== n\n\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\370\177\000\000\000\000\000\000\360\177' \
    >$corpus/status/3

# Databases of studies: what is changed in a sound one.
printf '== s\nUPDATE result SET throughput = 9e999 WHERE cell < 5; UPDATE cell SET seed = -1, faults = NULL;\n== o\nnue\nupdn' \
    >$corpus/study/1
printf '== s\nUPDATE cell SET fabric = x'"'"'ff00'"'"' || id, engine = '"'"'</script>'"'"', vls = id, options = '"'"'a=b'"'"';\n' \
    >$corpus/study/2
printf '== s\nDROP TABLE loads; CREATE VIEW loads AS SELECT 1 AS cell, zeroblob(12) AS cables, x'"'"'010203'"'"' AS nodes;\n' \
    >$corpus/study/3
printf '== s\nUPDATE fabric SET body = '"'"'{"switches":[["a",1],["b",1]],"cables":[[0,1,1,1]]}'"'"'; DELETE FROM spent;\n== p\n\000\002\000\015\144\004\000\377' \
    >$corpus/study/4
printf '== c\n\000\010' >$corpus/study/5
printf '== r\nSQLite format 3' >$corpus/study/6
printf '== s\nUPDATE cell SET faults = '"'"'years '"'"' || id || '"'"' tsubame2'"'"', fault_kind = '"'"'years'"'"', fault_unit = '"'"'years'"'"', fault_amount = id; UPDATE result SET status = '"'"'engine'"'"', words = '"'"'why'"'"' WHERE cell %% 2 = 0;\n' \
    >$corpus/study/7
printf '== s\nALTER TABLE result ADD COLUMN more; DELETE FROM result WHERE cell > 3; INSERT INTO lost VALUES (1, '"'"'switches'"'"', 9, 10, 30, 1e300, -1, NULL, 1.5, 2, 4, 1.5);\n' \
    >$corpus/study/8

# OTF2 archives: what the library is told to write (fuzz_otf2.c).
printf '== 0\nE0S1035L0T9E2I10311L2E4i1L4E5S1012R1012L5BC0000B\n== 1\nE1R0035L1E3Q7L3E6q00317L6E5S0012R0012L5BC0000B' \
    >$corpus/otf2/1
printf '== 0\nN7XC1E7L7n;00@@7C<0110@\n== 1\nN7E1L1n;00@@7C<01@0' >$corpus/otf2/2
printf '== 0\nE0S1035L0Q1\n== x\n12' >$corpus/otf2/3
printf '== l\n03223\n== 0\nE0S1035L0' >$corpus/otf2/4
printf '== d\nC3S08S10R010L5G040255G150201G2600M01M12M21\n== 0\nE0S1035L0' >$corpus/otf2/5
printf '== 0\nE0S1035L0\n== x\n17' >$corpus/otf2/6
printf '== 0\nE0S1035L0\n== x\n26' >$corpus/otf2/7
printf '== d\nC1S00L0L1R000G040201G150200M01' >$corpus/otf2/8

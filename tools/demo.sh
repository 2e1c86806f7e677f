#!/bin/sh
# demo.sh BUILD: the main job on one small machine: the thesis' 4x4x3 torus with four terminals a
# switch and one failed switch (Figure 6.2): made, broken, described, drawn.
set -eu
selvage=$1/selvage
out=demo
mkdir -p $out

echo "1. A 4x4x3 torus with four terminals on each of its 48 switches:"
"$selvage" topo torus:4x4x3,hosts=4 -o $out/torus.net
echo "   $out/torus.net"

echo "2. One switch fails, and its terminals with it:"
"$selvage" faults $out/torus.net --switches 1 --seed 1 -o $out/broken.net \
    --save-list $out/failed.txt 2>&1 | sed 's/^/   /'
sed 's/^/   /' $out/failed.txt

echo "3. What is left:"
"$selvage" info $out/broken.net | sed 's/^/   /'

echo "4. What changed, as an administrator would see it from two discoveries:"
"$selvage" diff $out/torus.net $out/broken.net | sed 's/^/   /' | tail -4 || true

echo "5. A picture:"
"$selvage" convert $out/broken.net -o $out/broken.dot
neato -Tsvg $out/broken.dot -o $out/broken.svg
echo "   $out/broken.svg"
echo "6. Routed with each engine, and the tables judged by code that knows nothing of engines (as the"
echo "   thesis' Figure 6.2b; EFI: routes on the busiest channel, hops: channels between switches):"
field() { sed -n "s/^ *\"$1\": *\([^,{]*\),*$/\1/p" | head -1; }
row() { # ENGINE VLS: one line of the table; VLs needed are those of the engine's own count
    "$selvage" route $out/broken.net --engine "$1" ${2:+--vls $2} -o "$out/$1$2" --json \
        >$out/report.json 2>/dev/null || true
    if ! [ -e "$out/$1$2" ]; then
        printf '   %-7s %5s  infeasible\n' "$1" "$2"
        return
    fi
    "$selvage" metrics "$out/$1$2" --json >$out/metrics.json
    free=$(field deadlock_free <$out/report.json)
    printf '   %-7s %5s %6s  %-13s %6s %7s\n' "$1" "${2:-any}" "$(field vls_needed <$out/report.json)" \
        "$([ "$free" = true ] && echo yes || echo no)" \
        "$(sed -n 's/.*"efi".*"max": \([0-9]*\).*/\1/p' $out/metrics.json)" \
        "$(sed -n 's/.*"hops".*"avg": \([0-9]*\.[0-9]\{0,3\}\).*/\1/p' $out/metrics.json)"
}
printf '   %-7s %5s %6s  %-13s %6s %7s\n' engine vls needed deadlock-free EFI hops
for engine in $("$selvage" engines --json | sed -n 's/^ *"name": "\([a-z0-9-]*\)",$/\1/p'); do
    rm -rf "$out/$engine"
    row "$engine" ""
done
for engine in nue weave; do
    for vls in 1 2 4 8; do
        rm -rf "$out/$engine$vls"
        row $engine $vls
    done
done
rm -f $out/report.json $out/metrics.json
echo "   What a no means, for minhop: these packets can wait for each other for ever:"
"$selvage" check $out/minhop 2>/dev/null | sed -n '/^[0-9]* channels can/,/where it began/p' |
    sed 's/^/   /' || true

echo "7. What they deliver: every terminal sends 2 KiB to every other one (as the thesis' Figure 6.2a; up to 4"
echo "   VLs; share: of what terminals can inject):"
simulate() { # ENGINE VLS
    rm -rf "$out/sim"
    if ! "$selvage" route $out/broken.net --engine "$1" --vls "$2" -o $out/sim >/dev/null 2>&1 &&
        ! [ -e $out/sim ]; then
        printf '   %-10s %5s  infeasible\n' "$1" "$2"
        return
    fi
    "$selvage" sim $out/sim --traffic exchange --message 2048 --json >$out/sim.json 2>/dev/null || true
    status=$(field status <$out/sim.json | tr -d '"')
    if [ "$status" = deadlock ]; then
        printf '   %-10s %5s  deadlock\n' "$1" "$2"
        return
    fi
    printf '   %-10s %5s %8.1f GB/s  %5.1f %%\n' "$1" "$2" "$(field throughput_gbyte_s <$out/sim.json)" \
        "$(field injection_share <$out/sim.json | awk '{print 100 * $1}')"
}
printf '   %-10s %5s %13s %8s\n' engine vls throughput share
for engine in torus2qos dfsssp updn lash minhop; do
    simulate $engine 4
done
for vls in 1 2 3 4; do
    simulate nue $vls
    simulate weave $vls
done
rm -rf $out/sim $out/sim.json

echo "8. A proof for weave's tables (the default engine), checked in one pass:"
"$selvage" check $out/weave --proof $out/weave.proof >/dev/null
"$selvage" check $out/weave --against $out/weave.proof | sed 's/^/   /'

echo "9. Two more cables fail: the same tables, repaired:"
"$selvage" faults $out/broken.net --links 2 --seed 4 -o $out/worse.net 2>/dev/null
"$selvage" route $out/worse.net --repair $out/weave -o $out/repaired | sed -n '1,3p' | sed 's/^/   /'

echo "10. The way from one end to the other:"
"$selvage" path $out/weave host0 host191 | sed 's/^/   /'
echo "11. Six jobs run, scattered over the fabric; tables that know them spread the routes inside jobs:"
sed -n 's/^Ca.*# "\(host[0-9]*\).*/\1/p' $out/broken.net |
    awk '{ print $1, "job" (int(NR / 7) * 5 % 6 + 1) }' >$out/jobs.txt
rm -rf $out/follow
"$selvage" route $out/broken.net --jobs $out/jobs.txt -o $out/follow >/dev/null
"$selvage" metrics $out/weave $out/follow --jobs $out/jobs.txt --heat $out/jobs.svg |
    sed -n '/^their routes/,/channels of a job/p' | sed 's/^/   /'
echo "   $out/jobs.svg: before and after, cable by cable"

echo "12. From one proven set of tables to another while traffic runs, four ways (5 runs each):"
rm -rf $out/old $out/new
"$selvage" route torus:4x4,hosts=2 --engine weave --vls 2 -o $out/old >/dev/null
"$selvage" route torus:4x4,hosts=2 --engine nue --vls 2 -o $out/new >/dev/null
"$selvage" update $out/old $out/new --rehearse --runs 5 >$out/update.txt || [ $? = 1 ]
sed -n '/at-once  /p;/overtaken  /p;/deadlocked/p;/longest silence/p;/before  /p;/ during/p' $out/update.txt |
    sed 's/^/   /'
rm -rf $out/old $out/new

echo "13. What failures cost: 0 to 10 % of the torus' cables fail, every engine, three draws each:"
rm -f $out/study.db
"$selvage" study degradation --fabric torus:4x4x3,hosts=4 --links 0,1%,3%,5%,10% --seeds 1..3 \
    --db $out/study.db >/dev/null 2>$out/study.log || { cat $out/study.log; exit 1; }
sed 's/^selvage: /   /' $out/study.log
rm -f $out/study.log
"$selvage" study summary --db $out/study.db | sed -n '/: use /,$p' | sed 's/^/   /'
if "$selvage" report $out/study.db -o $out/report.html; then
    echo "   $out/report.html: open it in a browser"
fi
echo "14. LAMMPS with 64 ranks, as it was recorded (tests/traces/chain.svt), replayed on a tree by the tables, by distributed"
echo "    routing balancing and by its predictive kind; with one path between any two switches, then with tables made for trees:"
compare() { # ENGINE…: the first table, and what policies did
    "$selvage" sim kary:k=4,n=3,hosts=4,vls=15 "$@" -p drb --trace "$(dirname "$0")/../tests/traces/chain.svt" \
        --policy deterministic --policy drb --policy pr-drb --latency-map "$out/waits-$2.svg" >$out/policies.txt
    sed -n '/^policy.*latency/,/^$/p' $out/policies.txt | sed '/^$/d;s/^/   /'
}
echo "   lash:"
compare -e lash --vls 4
echo "   dmodk:"
compare -e dmodk
rm -f $out/policies.txt
echo "   $out/waits-lash.svg, $out/waits-dmodk.svg: where packets waited, and when"
echo
echo "Shown: a generated fabric, a repeatable failure, its distances and connectivity"
echo "(47 switches, 188 terminals, still connected), the difference, a drawing, and several routings of"
echo "what is left: which of them can deadlock, with the ring of channels that can wait for each other,"
echo "what they deliver when all send to all, a proof for one that cannot deadlock, and its repair after a"
echo "further failure; tables that follow jobs; how tables are changed under traffic, and what carelessness does;"
echo "what keeps its throughput as more and more cables fail,"
echo "as a page; and whether a program would gain from packets that choose their way."
echo "Output is in $out/: torus.net and broken.net (ibsim serves them to OpenSM), failed.txt,"
echo "broken.svg, a directory of tables for each engine (opensm -R file -U weave/opensm-lfts.dump"
echo "loads them), weave.proof, jobs.txt, jobs.svg and update.txt, study.db and report.html,"
echo "waits-lash.svg and waits-dmodk.svg."

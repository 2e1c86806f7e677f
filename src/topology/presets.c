/*
 * presets.c: the configurations that the papers publish, each under a name.
 *
 * "t42-" are rows of the thesis' Table 4.2 ("-u": the unbalanced number of terminals in brackets),
 * "t61-" of its Table 6.1, "f46-" and "f62-" its Figures 4.6 and 6.2, "ipdps-" rows of Table I of
 * the DFSSSP paper. The published counts stand beside the spec; a test compares them with what the
 * spec gives. Errata are in docs/papers.md; Figure 4.6 and Table I publish no link counts.
 */
#include "topology/net.h"

#define T42   "thesis Table 4.2"
#define T61   "thesis Table 6.1"
#define F46   "thesis Figure 4.6"
#define IPDPS "DFSSSP paper Table I"

static const sv_preset presets[] = {
    {"t42-mesh2d", "mesh:5x5,r=6,total=275,radix=36", T42, 25, 275, 240},
    {"t42-mesh2d-u", "mesh:5x5,r=6,total=256,radix=36", T42, 25, 256, 240},
    {"t42-mesh3d", "mesh:3x3x3,r=4,total=270,radix=36", T42, 27, 270, 216},
    {"t42-mesh3d-u", "mesh:3x3x3,r=4,total=256,radix=36", T42, 27, 256, 216},
    {"t42-torus2d", "torus:5x5,r=6,total=275,radix=36", T42, 25, 275, 300},
    {"t42-torus2d-u", "torus:5x5,r=6,total=256,radix=36", T42, 25, 256, 300},
    {"t42-torus3d", "torus:3x3x3,r=4,total=270,radix=36", T42, 27, 270, 324},
    {"t42-torus3d-u", "torus:3x3x3,r=4,total=256,radix=36", T42, 27, 256, 324},
    {"t42-kautz", "kautz:d=2,k=4,r=6,total=264,radix=36", T42, 24, 264, 288},
    {"t42-kautz-u", "kautz:d=2,k=4,r=6,total=256,radix=36", T42, 24, 256, 288},
    {"t42-kary", "kary:k=16,n=2,total=256,radix=36", T42, 32, 256, 256},
    {"t42-kary-u", "kary:k=16,n=2,total=270,radix=36", T42, 32, 270, 256},
    {"t42-xgft", "xgft:h=1,m=22,w=11,total=264,radix=36", T42, 33, 264, 242},
    {"t42-xgft-u", "xgft:h=1,m=22,w=11,total=256,radix=36", T42, 33, 256, 242},
    {"t42-dragonfly", "dragonfly:a=10,p=7,h=5,g=4,radix=36", T42, 40, 280, 276},
    {"t42-dragonfly-u", "dragonfly:a=10,h=5,g=4,total=256,radix=36", T42, 40, 256, 276},
    {"t42-random", "random:switches=32,links=256,total=256,radix=36", T42, 32, 256, 256},
    {"t42-random-u", "random:switches=32,links=256,total=270,radix=36", T42, 32, 270, 256},
    {"t61-random", "random:switches=125,links=1000,total=1000,radix=36", T61, 125, 1000, 1000},
    {"t61-torus", "torus:6x5x5,r=4,total=1050,radix=36", T61, 150, 1050, 1800},
    {"t61-kary", "kary:k=10,n=3,total=1100,radix=36", T61, 300, 1100, 2000},
    {"t61-kautz", "kautz:d=5,k=3,r=2,total=1050,radix=36", T61, 150, 1050, 1500},
    {"t61-dragonfly", "dragonfly:a=12,p=6,h=6,g=15,radix=36", T61, 180, 1080, 1515},
    {"t61-cascade", "cascade:g=2,radix=48", T61, 192, 1536, 3072},
    {"t61-tsubame2", "tsubame2:rail=2,radix=36", T61, 243, 1408, 3384},
    {"t61-taurus", "taurus:radix=36,speed=QDR", T61, 211, 2090, 2490},
    {"f46-kary10", "kary:k=10,n=3,total=1100,radix=36", F46, 0, 1100, 0},
    {"f46-kary14", "kary:k=14,n=3,total=2156,radix=36", F46, 0, 2156, 0},
    {"f46-torus", "torus:7x7x7,total=2058,radix=36", F46, 0, 2058, 0},
    {"f46-dragonfly", "dragonfly:a=14,p=7,h=7,g=23,radix=36", F46, 0, 2254, 0},
    {"f46-kautz", "kautz:d=7,k=3,total=2352,radix=36", F46, 0, 2352, 0},
    {"f62-torus", "torus:4x4x3,hosts=4,radix=36", "thesis Figure 6.2", 48, 192, 0},
    {"tsubame2-rail1", "tsubame2:rail=1,radix=36", "thesis 4.4.4", 258, 1555, 3621},
    {"ipdps-xgft-64", "xgft:h=1,m=6,w=3,total=64,radix=36", IPDPS, 0, 64, 0},
    {"ipdps-xgft-128", "xgft:h=1,m=10,w=5,total=128,radix=36", IPDPS, 0, 128, 0},
    {"ipdps-xgft-256", "xgft:h=1,m=16,w=8,total=256,radix=36", IPDPS, 0, 256, 0},
    {"ipdps-xgft-512", "xgft:h=2,m=6/6,w=3/3,total=512,radix=36", IPDPS, 0, 512, 0},
    {"ipdps-xgft-1024", "xgft:h=2,m=10/10,w=5/5,total=1024,radix=36", IPDPS, 0, 1024, 0},
    {"ipdps-xgft-2048", "xgft:h=2,m=14/14,w=7/7,total=2048,radix=36", IPDPS, 0, 2048, 0},
    {"ipdps-xgft-4096", "xgft:h=2,m=18/18,w=9/9,total=4096,radix=36", IPDPS, 0, 4096, 0},
    {"ipdps-kautz-64", "kautz:d=2,k=2,total=64,radix=36", IPDPS, 0, 64, 0},
    {"ipdps-kautz-128", "kautz:d=2,k=2,total=128,radix=36", IPDPS, 0, 128, 0},
    {"ipdps-kautz-256", "kautz:d=2,k=3,total=256,radix=36", IPDPS, 0, 256, 0},
    {"ipdps-kautz-512", "kautz:d=3,k=3,total=512,radix=36", IPDPS, 0, 512, 0},
    {"ipdps-kautz-1024", "kautz:d=3,k=3,total=1024,radix=36", IPDPS, 0, 1024, 0},
    {"ipdps-kautz-2048", "kautz:d=4,k=3,total=2048,radix=36", IPDPS, 0, 2048, 0},
    {"ipdps-kautz-4096", "kautz:d=6,k=3,total=4096,radix=36", IPDPS, 0, 4096, 0},
    {"ipdps-kary-64", "kary:k=6,n=2,total=64,radix=36", IPDPS, 0, 64, 0},
    {"ipdps-kary-128", "kary:k=10,n=2,total=128,radix=36", IPDPS, 0, 128, 0},
    {"ipdps-kary-256", "kary:k=16,n=2,total=256,radix=36", IPDPS, 0, 256, 0},
    {"ipdps-kary-512", "kary:k=6,n=3,total=512,radix=36", IPDPS, 0, 512, 0},
    {"ipdps-kary-1024", "kary:k=10,n=3,total=1024,radix=36", IPDPS, 0, 1024, 0},
    {"ipdps-kary-2048", "kary:k=14,n=3,total=2048,radix=36", IPDPS, 0, 2048, 0},
    {"ipdps-kary-4096", "kary:k=18,n=3,total=4096,radix=36", IPDPS, 0, 4096, 0},
};

const sv_preset *sv_preset_at(size_t i)
{
    return i < sizeof presets / sizeof presets[0] ? &presets[i] : NULL;
}

/* joint.h: shortest paths and their lanes, chosen together. */
#ifndef SV_ROUTING_JOINT_H
#define SV_ROUTING_JOINT_H

#include "routing/sssp.h"

/*
 * Routes all destinations by shortest paths, balanced as sssp does, each path in a lane so that
 * nothing can deadlock; SLs are lanes. x: fresh from sv__sssp_init. report: lanes needed and used.
 * INFEASIBLE, with the number of lanes that it would take, if the job has fewer.
 */
sv_status sv__joint_run(sv__sssp *x);

#endif

/*
 * selvage.h: all public headers.
 */
#ifndef SELVAGE_SELVAGE_H
#define SELVAGE_SELVAGE_H

#include <selvage/adapt.h>
#include <selvage/base.h>
#include <selvage/fabric.h>
#include <selvage/failures.h>
#include <selvage/faults.h>
#include <selvage/formats.h>
#include <selvage/jobmap.h>
#include <selvage/jobs.h>
#include <selvage/live.h>
#include <selvage/metrics.h>
#include <selvage/multicast.h>
#include <selvage/picture.h>
#include <selvage/profiles.h>
#include <selvage/rehearse.h>
#include <selvage/repair.h>
#include <selvage/replay.h>
#include <selvage/routes.h>
#include <selvage/routing.h>
#include <selvage/select.h>
#include <selvage/simulate.h>
#include <selvage/topology.h>
#include <selvage/traces.h>
#include <selvage/traffic.h>
#include <selvage/update.h>
#include <selvage/verify.h>

#endif

/*
 * selvage.h: all headers that docs/versioning.md promises to keep. What may still change is in
 * selvage/experimental.h.
 */
#ifndef SELVAGE_SELVAGE_H
#define SELVAGE_SELVAGE_H

#include <selvage/auto.h>
#include <selvage/base.h>
#include <selvage/fabric.h>
#include <selvage/faults.h>
#include <selvage/formats.h>
#include <selvage/jobmap.h>
#include <selvage/metrics.h>
#include <selvage/picture.h>
#include <selvage/profiles.h>
#include <selvage/routes.h>
#include <selvage/routing.h>
#include <selvage/simulate.h>
#include <selvage/topology.h>
#include <selvage/traffic.h>
#include <selvage/verify.h>

#endif

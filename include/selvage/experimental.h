/*
 * experimental.h: what may still change from version to version (docs/versioning.md). Discovery,
 * studies and reports have libraries of their own: <selvage/experimental/discover.h>, study.h and
 * report.h are included one by one.
 */
#ifndef SELVAGE_EXPERIMENTAL_H
#define SELVAGE_EXPERIMENTAL_H

#include <selvage/experimental/adapt.h>
#include <selvage/experimental/jobs.h>
#include <selvage/experimental/live.h>
#include <selvage/experimental/multicast.h>
#include <selvage/experimental/rehearse.h>
#include <selvage/experimental/repair.h>
#include <selvage/experimental/replay.h>
#include <selvage/experimental/traces.h>
#include <selvage/experimental/update.h>

#endif

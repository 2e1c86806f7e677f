/* summary.h: the part of the summary about fabrics that were not simulated. */
#ifndef SV_STUDY_SUMMARY_H
#define SV_STUDY_SUMMARY_H

#include "study/cases.h"

sv_status sv__summary_tables(const sv__cases *cases, sv_tables *tables);

#endif

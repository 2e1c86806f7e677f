/* team.h: what the module for MPI gives to the command, and what it needs of it. */
#ifndef SELVAGE_TEAM_H
#define SELVAGE_TEAM_H

#include <selvage/experimental/study.h>

/* The processes of this run; NULL: MPI does not start. */
SV_API const sv_study_team *selvage_team_open(unsigned *on_this_machine);
SV_API void selvage_team_close(const sv_study_team *team);

/* Of the command: notes why a call fails. */
SV_API sv_status selvage_team_fail(sv_ctx *ctx, const char *doing, const char *why);

#endif

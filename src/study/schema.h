/* schema.h: the tables of a study's database, for store.c. */
#ifndef SV_STUDY_SCHEMA_H
#define SV_STUDY_SCHEMA_H

/* "SVST" */
enum { SV__SCHEMA_ID = 0x53565354 };

/* The newest version; and what makes a version of the one before it, in SQL. */
int sv__schema_version(void);
const char *sv__schema_step(int version);

#endif

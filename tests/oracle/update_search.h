/*
 * update_search.h: plans by trying: which orders of whole destinations are safe.
 */
#ifndef TESTS_ORACLE_UPDATE_SEARCH_H
#define TESTS_ORACLE_UPDATE_SEARCH_H

#include "update_oracle.h"

/* All that changes in one step, VLs too. To be freed. */
oracle_plan search_at_once(const oracle *o);

/* Destinations whose entries or SLs change; list may be NULL. */
uint32_t search_moving(const oracle *o, uint32_t *list);

typedef enum search_answer { SEARCH_NONE, SEARCH_FOUND, SEARCH_GAVE_UP } search_answer;

/*
 * Looks for an order of destinations, one after the other and each switch after those on its new
 * path, that is safe if packets settle and nobody is silent. At most so many judgements. *plan, to
 * be freed, is it if there is one.
 */
search_answer search_order(oracle *o, uint32_t max, oracle_plan *plan);

#endif

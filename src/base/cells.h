/*
 * cells.h: pairs of small numbers to 32-bit values: a table where it is small, else a hash map.
 */
#ifndef SV_BASE_CELLS_H
#define SV_BASE_CELLS_H

#include "base/map.h"

typedef struct sv_cells {
    sv_map map;      /* with table NULL */
    uint32_t *table; /* [rows × columns] */
    uint64_t rows, columns;
} sv_cells;

/* rows × columns is below 2^64. After a failure nothing is to be released, but may be. */
sv_status sv_cells_init(sv_cells *cells, sv_ctx *ctx, uint64_t rows, uint64_t columns);
void sv_cells_release(sv_cells *cells);
/* As sv_map_add. */
sv_status sv_cells_add(sv_cells *cells, uint64_t row, uint64_t column, uint32_t value,
                       uint32_t *held);
/* Memory that it takes. */
uint64_t sv_cells_bytes(const sv_cells *cells);

/* The value of a pair, or SV_ABSENT. */
static inline uint32_t sv_cells_get(const sv_cells *cells, uint64_t row, uint64_t column)
{
    return cells->table != NULL ? cells->table[row * cells->columns + column]
                                : sv_map_get(&cells->map, row * cells->columns + column);
}

#endif

/*
 * cells.c: pairs of small numbers (terminals, ranks) to 32-bit values.
 *
 * Idea: who asks for every message whether two terminals have talked before waits for a hash map
 * longer than for a table, as long as the table is small enough for a cache. Larger ones would be
 * empty, for the most part.
 *
 * Cost: O(1), expected for more than MAX_CELLS pairs. Memory: 4 bytes for each pair there can be,
 * at most 4 MiB; beyond that, linear in the pairs that there are.
 */
#include "base/cells.h"

enum { MAX_CELLS = 1 << 20 };

sv_status sv_cells_init(sv_cells *cells, sv_ctx *ctx, uint64_t rows, uint64_t columns)
{
    *cells = (sv_cells){.rows = rows, .columns = columns};
    sv_map_init(&cells->map, ctx);
    if (columns != 0 && rows > MAX_CELLS / columns)
        return SV_OK;
    cells->table = sv_alloc(ctx, (size_t)(rows * columns), sizeof *cells->table);
    if (cells->table == NULL)
        return SV_NO_MEMORY;
    for (uint64_t i = 0; i < rows * columns; i++)
        cells->table[i] = SV_ABSENT;
    return SV_OK;
}

void sv_cells_release(sv_cells *cells)
{
    if (cells->map.ctx == NULL)
        return;
    sv_release(cells->map.ctx, cells->table);
    sv_map_release(&cells->map);
    cells->table = NULL;
}

sv_status sv_cells_add(sv_cells *cells, uint64_t row, uint64_t column, uint32_t value,
                       uint32_t *held)
{
    if (cells->table == NULL)
        return sv_map_add(&cells->map, row * cells->columns + column, value, held);
    uint32_t *cell = &cells->table[row * cells->columns + column];
    if (*cell == SV_ABSENT)
        *cell = value;
    if (held != NULL)
        *held = *cell;
    return SV_OK;
}

uint64_t sv_cells_bytes(const sv_cells *cells)
{
    if (cells->table != NULL)
        return cells->rows * cells->columns * sizeof *cells->table;
    return cells->map.size * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

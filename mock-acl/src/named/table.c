/* All names. */
#include <string.h>

#include "named/call.h"

const mock_named_row *mock_named_find(const char *type) {
    static const mock_named_row *const tables[] = {
        mock_named_elements, mock_named_moves, mock_named_products, mock_named_lines, mock_named_picks};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const mock_named_row *row = tables[i]; row->type != NULL; row++)
            if (strcmp(row->type, type) == 0) return row;
    return NULL;
}

/* The ids of notifies that are taken. */
#include "engine/engine.h"
#include "engine/notify_ids.h"

mock_id_pool mock_notify_ids;

bool mock_notify_ids_take(uint32_t count) {
    if (count > MOCK_NOTIFY_LIMIT - mock_notify_ids.used) return false;
    mock_notify_ids.used += count;
    return true;
}

void mock_notify_ids_give(uint32_t count) { mock_notify_ids.used -= count; }

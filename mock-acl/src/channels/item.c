/* Data items and datasets of channels (guide: tensor transfer; codes and answers to null: implementation
 * of the open runtime). An item refers to the program's memory, host or device; a received one has host
 * memory of its own. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "channels/fifo.h"
#include "channels/item.h"
#include "memory/memory.h"

static void drop_item(void *thing) {
    mock_item *i = thing;
    if (i->owns_data) free(i->value.data);
}

static const mock_thing_type item_type = {"acltdtDataItem", drop_item};

static void drop_received(mock_tensors *t) {
    for (size_t i = 0; t->received && i < t->count; i++) mock_thing_destroy(&item_type, t->items[i], "item");
    t->count = 0;
}

static void drop_tensors(void *thing) {
    drop_received(thing);
    free(((mock_tensors *)thing)->items);
}

static const mock_thing_type tensors_type = {"acltdtDataset", drop_tensors};

MOCK_THING_FINDER(mock_tensors_find, acltdtDataset, mock_tensors, tensors_type, "dataset")

/* Dimensions and their number go together; only tensors have any. Other kinds have no data either. */
MOCK_EXPORT acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t *dims, size_t dimNum,
    aclDataType dataType, void *data, size_t size) {
    MOCK_ENTER_PTR(acltdtCreateDataItem);
    const bool tensor = tdtType == ACL_TENSOR_DATA_TENSOR;
    if ((dims == NULL) != (dimNum == 0) || dimNum > MOCK_ITEM_DIMS || (!tensor && dims != NULL)) {
        mock_invalid("an item of kind %d with %zu dimensions at %p", (int)tdtType, dimNum,
            (const void *)dims);
        return NULL;
    }
    mock_item *i = mock_thing_new(&item_type, sizeof *i);
    if (i == NULL) return NULL;
    i->value.kind = tdtType;
    i->value.dtype = tensor ? dataType : ACL_DT_UNDEFINED;
    i->value.rank = dimNum;
    if (dimNum != 0) memcpy(i->value.dims, dims, dimNum * sizeof *dims);
    i->value.data = tensor ? data : NULL;
    i->value.size = tensor ? size : 0;
    return i->thing.handle;
}

MOCK_EXPORT aclError acltdtDestroyDataItem(acltdtDataItem *dataItem) {
    MOCK_ENTER(acltdtDestroyDataItem);
    return mock_thing_destroy(&item_type, dataItem, "dataItem");
}

static const mock_item_value *value_of(mock_api api, const acltdtDataItem *handle) {
    void *found = NULL;
    if (mock_enter(api) != 0 || mock_thing_find(&item_type, handle, "dataItem", &found) != 0) return NULL;
    return &((mock_item *)found)->value;
}

MOCK_EXPORT acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem) {
    const mock_item_value *v = value_of(MOCK_API_acltdtGetTensorTypeFromItem, dataItem);
    return v == NULL ? ACL_TENSOR_DATA_UNDEFINED : v->kind;
}

MOCK_EXPORT aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem) {
    const mock_item_value *v = value_of(MOCK_API_acltdtGetDataTypeFromItem, dataItem);
    return v == NULL ? ACL_DT_UNDEFINED : v->dtype;
}

MOCK_EXPORT void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem) {
    const mock_item_value *v = value_of(MOCK_API_acltdtGetDataAddrFromItem, dataItem);
    return v == NULL ? NULL : v->data;
}

MOCK_EXPORT size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem) {
    const mock_item_value *v = value_of(MOCK_API_acltdtGetDataSizeFromItem, dataItem);
    return v == NULL ? 0 : v->size;
}

MOCK_EXPORT size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem) {
    const mock_item_value *v = value_of(MOCK_API_acltdtGetDimNumFromItem, dataItem);
    return v == NULL ? 0 : v->rank;
}

MOCK_EXPORT aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims, size_t dimNum) {
    MOCK_ENTER(acltdtGetDimsFromItem);
    void *found = NULL;
    const aclError code = mock_thing_find(&item_type, dataItem, "dataItem", &found);
    if (code != 0) return code;
    const mock_item_value *v = &((mock_item *)found)->value;
    if ((dims == NULL) != (dimNum == 0)) return mock_invalid("%zu dimensions at %p", dimNum, (void *)dims);
    if (dimNum < v->rank) return mock_invalid("room for %zu dimensions, there are %zu", dimNum, v->rank);
    if (v->rank != 0) memcpy(dims, v->dims, v->rank * sizeof *dims);
    return 0;
}

/* Nothing here comes in slices. */
MOCK_EXPORT aclError acltdtGetSliceInfoFromItem(
    const acltdtDataItem *dataItem, size_t *sliceNum, size_t *sliceId) {
    MOCK_ENTER(acltdtGetSliceInfoFromItem);
    void *found = NULL;
    const aclError code = mock_thing_find(&item_type, dataItem, "dataItem", &found);
    if (code != 0) return code;
    if (sliceNum == NULL || sliceId == NULL) return mock_null("sliceNum and sliceId");
    *sliceNum = *sliceId = 0;
    return 0;
}

/* ---- datasets ---- */

MOCK_EXPORT acltdtDataset *acltdtCreateDataset(void) {
    MOCK_ENTER_PTR(acltdtCreateDataset);
    const mock_tensors *t = mock_thing_new(&tensors_type, sizeof *t);
    return t == NULL ? NULL : t->thing.handle;
}

MOCK_EXPORT aclError acltdtDestroyDataset(acltdtDataset *dataset) {
    MOCK_ENTER(acltdtDestroyDataset);
    return mock_thing_destroy(&tensors_type, dataset, "dataset");
}

static aclError append(mock_tensors *t, acltdtDataItem *item) {
    if (t->count == t->room) {
        const size_t room = t->room == 0 ? 8 : 2 * t->room;
        acltdtDataItem **items = realloc(t->items, room * sizeof *items);
        if (items == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for a dataset");
        t->items = items;
        t->room = room;
    }
    t->items[t->count++] = item;
    return 0;
}

/* A received dataset takes no more: 200006. Host and device memory do not mix: 100000. */
MOCK_EXPORT aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem) {
    MOCK_ENTER(acltdtAddDataItem);
    mock_tensors *t = NULL;
    void *found = NULL;
    aclError code = mock_tensors_find(dataset, &t);
    if (code == 0) code = mock_thing_find(&item_type, dataItem, "dataItem", &found);
    if (code != 0) return code;
    const mock_item *fresh = found;
    if (t->received) return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "EH0008", "the dataset was received");
    for (size_t i = 0; i < t->count && fresh->value.data != NULL; i++) {
        const mock_item *other = mock_thing_get(&item_type, t->items[i]);
        if (other == NULL || other->value.data == NULL) continue;
        const bool on_device = mock_place_of(other->value.data) == MOCK_DEVICE;
        if (on_device != (mock_place_of(fresh->value.data) == MOCK_DEVICE))
            return mock_invalid("host and device memory in one dataset");
    }
    return append(t, dataItem);
}

MOCK_EXPORT acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index) {
    MOCK_ENTER_PTR(acltdtGetDataItem);
    mock_tensors *t = NULL;
    if (mock_tensors_find(dataset, &t) != 0) return NULL;
    if (index < t->count) return t->items[index];
    mock_invalid("item %zu of %zu", index, t->count);
    return NULL;
}

MOCK_EXPORT size_t acltdtGetDatasetSize(const acltdtDataset *dataset) {
    mock_tensors *t = NULL;
    if (mock_enter(MOCK_API_acltdtGetDatasetSize) != 0) return 0;
    return mock_tensors_find(dataset, &t) == 0 ? t->count : 0;
}

/* Only what a graph sends has a name (own choice: nothing here does). */
MOCK_EXPORT const char *acltdtGetDatasetName(const acltdtDataset *dataset) {
    MOCK_ENTER_PTR(acltdtGetDatasetName);
    mock_tensors *t = NULL;
    return mock_tensors_find(dataset, &t) == 0 ? "" : NULL;
}

/* ---- messages ---- */

static void drop_message(mock_message *message) {
    mock_tensor_message *m = (mock_tensor_message *)(void *)message;
    for (size_t i = 0; i < m->count; i++) free(m->values[i].data);
    free(m->values);
    free(m);
}

static aclError copy_value(const mock_item_value *from, mock_item_value *to) {
    if (from->kind < ACL_TENSOR_DATA_TENSOR || from->kind > ACL_TENSOR_DATA_ABNORMAL)
        return mock_invalid("an item of kind %d cannot be sent", (int)from->kind);
    *to = *from;
    to->data = NULL;
    if (from->size == 0) return 0;
    if (from->data == NULL) return mock_null("the data of an item");
    to->data = malloc(from->size);
    if (to->data == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for an item");
    mock_views_take();
    const void *bytes = mock_host_address(from->data, from->size);
    if (bytes != NULL) memcpy(to->data, bytes, from->size);
    mock_views_give();
    if (bytes != NULL) return 0;
    free(to->data);
    to->data = NULL;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
        "an item reaches outside a live device allocation");
}

aclError mock_tensors_pack(const mock_tensors *t, mock_tensor_message **out) {
    mock_tensor_message *m = calloc(1, sizeof *m);
    if (m != NULL) m->values = calloc(t->count + 1, sizeof *m->values);
    if (m == NULL || m->values == NULL) {
        free(m);
        return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for a message");
    }
    m->message.drop = drop_message;
    aclError code = 0;
    for (size_t i = 0; i < t->count && code == 0; i++) {
        const mock_item *item = mock_thing_get(&item_type, t->items[i]);
        code = item == NULL ? mock_invalid("item %zu was destroyed", i) : copy_value(&item->value,
            &m->values[i]);
        if (code == 0) m->count = i + 1;
    }
    if (code == 0) *out = m;
    else drop_message(&m->message);
    return code;
}

aclError mock_tensors_unpack(mock_tensors *t, mock_tensor_message *m) {
    drop_received(t);
    t->received = true;
    aclError code = 0;
    for (size_t i = 0; i < m->count && code == 0; i++) {
        mock_item *item = mock_thing_new(&item_type, sizeof *item);
        if (item == NULL) code = ACL_ERROR_BAD_ALLOC;
        else code = append(t, item->thing.handle);
        if (code != 0) break;
        item->value = m->values[i];
        item->owns_data = true;
        m->values[i].data = NULL;
    }
    drop_message(&m->message);
    return code;
}

/* What a program asks about an offline model. */
#ifndef MOCK_MODELS_DESC_H_
#define MOCK_MODELS_DESC_H_

#include "base/base.h"
#include "models/file.h"
#include "models/model.h"

typedef struct mock_model_desc {
    mock_thing thing;
    mock_model_file *file; /* NULL while empty */
    mock_model *model;     /* NULL when it came from a file or from memory */
    uint32_t id;
} mock_model_desc;

aclError mock_model_desc_find(const aclmdlDesc *handle, mock_model_desc **out);

#endif

/* What a program sets before it loads or runs a model. */
#ifndef MOCK_MODELS_CONFIG_H_
#define MOCK_MODELS_CONFIG_H_

#include "base/base.h"
#include "models/model.h"

typedef struct mock_model_config {
    mock_thing thing;
    uint32_t set; /* a bit for each aclmdlConfigAttr */
    int32_t priority;
    size_t load_type;
    char *path, *weight_path;
    const void *model;
    void *weights, *work;
    size_t model_size, weight_size, work_size;
    size_t queue_numbers[2];
    mock_model_external *externals;
    size_t external_count;
} mock_model_config;

typedef struct mock_run_config {
    mock_thing thing;
    int32_t stream_timeout, event_timeout;
} mock_run_config;

aclError mock_model_config_find(const aclmdlConfigHandle *handle, mock_model_config **out);
/* What is missing for its load type: 100000. */
aclError mock_model_config_check(const mock_model_config *c);
aclError mock_run_config_find(const aclmdlExecConfigHandle *handle, mock_run_config **out);

#endif

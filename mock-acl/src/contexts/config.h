/* The configuration file of aclInit. */
#ifndef MOCK_CONTEXTS_CONFIG_H_
#define MOCK_CONTEXTS_CONFIG_H_

#include "base/base.h"

typedef struct mock_config {
    char *text; /* of the file, also when nothing was given; owned */
    size_t length;
    bool given; /* a path was given */
    mock_json root;
} mock_config;

/* Reads the file; 100003 when it cannot be read. mock_config_free in every case. */
aclError mock_config_read(const char *path, mock_config *config);
void mock_config_free(mock_config *config);
/* The checks before and after the callback for models. */
aclError mock_config_parse(mock_config *config, const char *path);
aclError mock_config_dump(const mock_config *config);
/* Operator cache, stack sizes, default device, print buffers, events and profiling; takes effect at once. */
aclError mock_config_apply(const mock_config *config);
/* Whether texts of errors belong to the process: err_msg_mode "1". */
bool mock_config_process_errors(const mock_config *config);

/* What the configuration sets elsewhere. */
void mock_default_device(int32_t device); /* -1: none */

#endif

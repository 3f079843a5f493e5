/* Host callbacks that a subscribed thread runs. Guarded by the engine lock. */
#ifndef MOCK_CALLBACK_H_
#define MOCK_CALLBACK_H_

#include "engine/core.h"

mock_outcome mock_report_step(mock_stream *s, mock_task *t);
void mock_report_forget(mock_task *t);
void mock_reports_clear(void);

#endif

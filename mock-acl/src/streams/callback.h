/* Host callbacks that a subscribed thread runs. Guarded by the engine lock. */
#ifndef MOCK_STREAMS_CALLBACK_H_
#define MOCK_STREAMS_CALLBACK_H_

#include "engine/engine.h"

void mock_unsubscribe(mock_stream *s);
bool mock_reports_coming(void);
void mock_reports_leave(const mock_stream *s);
mock_outcome mock_report_step(mock_stream *s, mock_task *t);
void mock_report_forget(mock_task *t);

#endif

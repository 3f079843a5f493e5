/* Collective communication (libhccl) between threads and processes of one machine: communicators, what their ranks
 * share, and operations as tasks of streams that wait for each other.
 *
 * Uses the engine, memory for the device's bytes, streams for what is queued. The control interface uses it. */
#ifndef MOCK_COLLECTIVES_COLLECTIVES_H_
#define MOCK_COLLECTIVES_COLLECTIVES_H_

/* ---- collectives/comm.c ---- */
void mock_collectives_reset(void);

#endif

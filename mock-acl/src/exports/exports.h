/* What the library shows of itself: addresses by name, and the calls that are accepted without effect (stubs of those
 * that are not supported: base/unsupported.c). Uses the engine. Only the control interface uses it. */
#ifndef MOCK_EXPORTS_EXPORTS_H_
#define MOCK_EXPORTS_EXPORTS_H_

/* Of the exported name with this number. */
void *mock_lookup_address(int index);

#endif

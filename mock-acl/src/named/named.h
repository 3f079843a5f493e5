/* Operators by name (aclop...): a table that leads from a name to the operators of aclnn which compute it, with
 * descriptors, buffers and attributes made their operands.
 *
 * Uses models for descriptors, buffers and attributes, objects for formats, the shared part of operators for
 * shapes, streams and the engine to queue, memory for what a call needs in between. Operators are called by
 * their exported names, as a program does. No other room uses it. */
#ifndef MOCK_NAMED_NAMED_H_
#define MOCK_NAMED_NAMED_H_

#endif

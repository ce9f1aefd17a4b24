/* What an engine says of itself: its store, its writer, and how many memories a space has. */
#ifndef SPINE_ENGINE_STATUS_GET_H
#define SPINE_ENGINE_STATUS_GET_H

#include "engine/op.h"

struct status_get {
	struct op op;
	/* Out. */
	struct store_info store;
	struct writer_stats writer;
	int64_t memories;		/* of the space, as what follows */
	struct space_keep keeps;	/* 0: for ever */
	int64_t handoffs;		/* that are there */
	int64_t handoffs_pruned;
	int64_t grown_bytes;		/* of the store, since: */
	int64_t grown_since_ms;		/* 0: not known yet */
};

extern const struct op_kind status_get_kind;

#endif

/* A memory as a document of the index: its terms, its labels, its boost. */
#ifndef SPINE_CORE_RECALL_DOCUMENT_H
#define SPINE_CORE_RECALL_DOCUMENT_H

#include "core/memory/recall.h"
#include "text/analyze.h"
#include "text/index.h"
#include "text/termbag.h"

/* What makes documents; one per thread. */
struct recall_maker {
	struct analyzer *analyzer;
	struct termbag bag;
	struct arena arena;		/* of the document being made */
};

void recall_maker_init(struct recall_maker *maker, uint64_t seed);
void recall_maker_release(struct recall_maker *maker);
/* *ret borrows from the maker until its next call, and from m. */
void recall_maker_run(struct recall_maker *maker, const struct memory *m, struct index_document *ret);

/* The label of a field's value, in the arena. */
struct str recall_label(struct arena *arena, enum recall_field field, struct str key, struct str value);

#endif

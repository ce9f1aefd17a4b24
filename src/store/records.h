/* The records that a store keeps, as plain data. */
#ifndef SPINE_STORE_RECORDS_H
#define SPINE_STORE_RECORDS_H

#include "base/str.h"

enum importance { IMPORTANCE_LOW, IMPORTANCE_MEDIUM, IMPORTANCE_HIGH, IMPORTANCE_CRITICAL };

enum trust { TRUST_SYSTEM, TRUST_USER, TRUST_AGENT, TRUST_EXTERNAL };

/* Numbers fit into 40 bits, so that space and number make one integer key that grows. */
#define MEMORY_NUM_MAX ((UINT64_C(1) << 40) - 1)

/* One version of a memory, together with the state that all its versions share. Text is UTF-8; p == NULL means not set. */
struct memory {
	/* Of the memory. */
	int64_t space;
	uint64_t num;
	uint32_t current_version;
	bool pinned;
	int64_t created_at_ms;
	uint64_t supersedes;		/* 0: none */
	uint64_t superseded_by;		/* 0: none */
	int64_t forgotten_at_ms;	/* 0: it is not */

	/* Of this version. */
	uint32_t version;
	int64_t updated_at_ms;		/* when this version was made */
	int64_t expires_at_ms;		/* 0: never */
	enum importance importance;
	enum trust trust;
	struct str content;
	struct str summary;
	struct str kind;
	struct str tags;		/* a JSON array of strings, canonical */
	struct str agent;
	struct str task;
	struct str metadata;		/* a JSON object, canonical */
	uint8_t digest[32];		/* SHA-256 of content */
};

/* A reply that is given again to the same Idempotency-Key. */
struct kept_reply {
	uint8_t request_digest[32];
	int status;
	struct str etag;		/* p == NULL: none */
	struct str location;		/* p == NULL: none */
	struct str body;		/* empty: it told of a memory that was forgotten since */
	int64_t at_ms;
};

/* A stored envelope. The body is its canonical JSON without the texts of its references. */
struct envelope_row {
	int64_t space;
	uint64_t num;
	struct str task;
	uint64_t parent;		/* 0: none */
	int64_t hop;
	int64_t created_at_ms;
	uint8_t digest[32];
	struct str body;
};

/* A task, as the list of tasks shows it. */
struct task_row {
	int64_t id;			/* grows; for pages */
	struct str name;
	int64_t created_at_ms;
	int64_t envelopes;
};

/* What is known of an agent. settings is a JSON object, canonical. */
struct agent_row {
	struct str name;
	struct str settings;
	int64_t created_at_ms;
	int64_t updated_at_ms;
};

/* Somebody has opened a memory that an envelope refers to. */
struct receipt_row {
	uint64_t memory;
	struct str agent;
	int64_t at_ms;
};

struct store_check {
	int64_t memories;
	int64_t versions;
	int64_t envelopes;
	int64_t problems;
};

#endif

/* What may be done to memories, and what comes of it.
 *
 * Each function that writes runs within a transaction on the writing connection. It decides first and writes then:
 * where it returns a problem other than P_STORE_*, it has written nothing.
 */
#ifndef SPINE_CORE_MEMORY_H
#define SPINE_CORE_MEMORY_H

#include "core/memory/memory_id.h"
#include "core/problem.h"

enum {
	MEMORY_CONTENT_MAX = 256 * 1024,
	MEMORY_SUMMARY_MAX = 16 * 1024,
	MEMORY_METADATA_MAX = 16 * 1024,
	MEMORY_KIND_MAX = 64,
	MEMORY_TAGS_MAX = 64,
	MEMORY_TAG_MAX = 128,
	MEMORY_AGENT_MAX = 128,
	MEMORY_TASK_MAX = 128,
};
#define MEMORY_TTL_MAX_S INT64_C(3155760000)

enum memory_state { MEMORY_ACTIVE, MEMORY_SUPERSEDED, MEMORY_EXPIRED, MEMORY_GONE, MEMORY_QUARANTINED };

enum memory_state memory_state(const struct memory *m, int64_t now_ms);
/* Takes away what only those see who may decide about the quarantine: all that its author wrote. */
void memory_withhold(struct memory *m);
const char *memory_state_name(enum memory_state state);
const char *memory_importance_name(enum importance importance);
const char *memory_trust_name(enum trust trust);
bool memory_importance_parse(struct str name, enum importance *ret);
bool memory_trust_parse(struct str name, enum trust *ret);

/* What a caller wants a memory to say. The bits of `has` tell which fields were given; given text with p == NULL clears
 * the field. Field values have been checked one by one (api/describe/desc_memories.c); what depends on other memories
 * or on the time has not. */
enum memory_field {
	MEMORY_HAS_ID = 1 << 0,
	MEMORY_HAS_CONTENT = 1 << 1,
	MEMORY_HAS_SUMMARY = 1 << 2,
	MEMORY_HAS_KIND = 1 << 3,
	MEMORY_HAS_TAGS = 1 << 4,
	MEMORY_HAS_IMPORTANCE = 1 << 5,
	MEMORY_HAS_AGENT = 1 << 6,
	MEMORY_HAS_TASK = 1 << 7,
	MEMORY_HAS_PINNED = 1 << 8,
	MEMORY_HAS_TRUST = 1 << 9,
	MEMORY_HAS_METADATA = 1 << 10,
	MEMORY_HAS_EXPIRES_AT = 1 << 11,
	MEMORY_HAS_TTL = 1 << 12,
	MEMORY_HAS_SUPERSEDES = 1 << 13,
	MEMORY_HAS_CREATED_AT = 1 << 14,
};

struct memory_draft {
	unsigned has;
	uint64_t num;
	struct str content;
	struct str summary;
	struct str kind;
	struct str tags;	/* canonical JSON */
	enum importance importance;
	struct str agent;
	struct str task;
	bool pinned;
	enum trust trust;
	struct str metadata;	/* canonical JSON */
	int64_t expires_at_ms;	/* 0 clears */
	int64_t ttl_s;
	uint64_t supersedes;
	int64_t created_at_ms;
	struct str origin;	/* see struct memory; set by the server */
	uint64_t num_min;	/* without an id: the number is at least that */
	bool is_promised;	/* the id is none that a caller chose: the space has given it before */
	enum trust trust_max;	/* of whoever writes it: what it writes has no more */
	bool is_signed;		/* agent, p == NULL too, is the author of a version that says something else */
};

/* The memory that memory_create would make, without its number where it has none; borrows its text from the draft. */
struct memory memory_of_draft(int64_t space, const struct memory_draft *draft, int64_t now_ms);
/* Stores a new memory. *ret borrows its text from the draft. */
enum problem_code memory_create(struct store_conn *c, int64_t space, const struct memory_draft *draft, int64_t now_ms,
				struct memory *ret, struct problem *problem);

/* Stores all of them or none; a problem's field is prefixed with "memories[N]". ret has room for count. */
enum problem_code memory_create_many(struct store_conn *c, int64_t space, const struct memory_draft *drafts,
				     size_t count, int64_t now_ms, struct memory *ret, struct problem *problem);

/* if_version 0: whatever the version. *ret is the memory as it then is; *ret_changed says whether anything was written.
 */
enum problem_code memory_update(struct store_conn *c, int64_t space, uint64_t num, uint32_t if_version,
				const struct memory_draft *draft, int64_t now_ms, struct arena *arena,
				struct memory *ret, bool *ret_changed, struct problem *problem);
/* by: of it only who signs the new version counts: origin, agent, is_signed, trust_max. */
enum problem_code memory_revert(struct store_conn *c, int64_t space, uint64_t num, uint32_t if_version,
				uint32_t to_version, const struct memory_draft *by, int64_t now_ms,
				struct arena *arena, struct memory *ret, bool *ret_changed, struct problem *problem);
/* Forgetting what is forgotten changes nothing. */
enum problem_code memory_forget(struct store_conn *c, int64_t space, uint64_t num, uint32_t if_version, int64_t now_ms,
				struct arena *arena, struct memory *ret, bool *ret_changed, struct problem *problem);

/* Reads one; P_MEMORY_NOT_FOUND where there is none. A forgotten one is found. */
enum problem_code memory_read(struct store_conn *c, int64_t space, struct memory_id id, struct arena *arena,
			      struct memory *ret, struct problem *problem);

#endif

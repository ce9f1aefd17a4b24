#include "engine/memory/memory_get.h"

static enum problem_code read_memory(struct op *op, struct store_conn *c)
{
	struct memory_get *g = (struct memory_get *)op;

	enum problem_code code = memory_read(c, op->space, g->id, op->arena, &g->memory, &op->problem);

	memory_withhold(&g->memory);
	return code;
}

/* Returns how many bytes of text are left. */
static size_t cut_by_bytes(struct memory_versions *v)
{
	size_t bytes = 0;

	for (size_t i = 0; i < v->count; i++) {
		bytes += v->versions[i].content.n;
		if (bytes > PAGE_BYTES_MAX && i) {
			v->count = i;
			v->page.has_more = true;
		}
	}
	return bytes;
}

static enum problem_code read_versions(struct op *op, struct store_conn *c)
{
	struct memory_versions *v = (struct memory_versions *)op;
	size_t max = v->page.size + 1;
	enum store_status status;
	struct memory newest;
	enum problem_code code = memory_read(c, op->space, (struct memory_id){v->num, 0}, op->arena, &newest,
					     &op->problem);

	if (code != P_OK)
		return code;
	v->versions = arena_calloc(op->arena, max, sizeof(*v->versions));
	status = store_memory_versions(c, op->space, v->num, (uint32_t)v->page.position, max, op->arena, v->versions,
				       &v->count);
	v->page.has_more = page_cut(&v->page, &v->count);
	for (size_t i = 0; i < v->count; i++)
		memory_withhold(&v->versions[i]);
	if (op_is_too_large(op, cut_by_bytes(v)))
		return P_OK;
	v->page.next = v->page.has_more ? v->versions[v->count - 1].version : 0;
	return op_stored(op, status);
}

static enum problem_code read_fetch(struct op *op, struct store_conn *c)
{
	struct memory_fetch *f = (struct memory_fetch *)op;

	enum problem_code code = P_OK;

	memory_lookup_init(op, f->count, &f->lookup);
	for (size_t i = 0; code == P_OK && i < f->count; i++) {
		code = memory_lookup_one(op, c, f->ids[i], &f->lookup);
		if (op_is_too_large(op, f->lookup.found_bytes))
			return P_OK;
	}
	return code;
}

const struct op_kind memory_get_kind = {.name = "memory_get", .size = sizeof(struct memory_get), .read = read_memory};
const struct op_kind memory_versions_kind = {
	.name = "memory_versions", .size = sizeof(struct memory_versions), .read = read_versions,
};
const struct op_kind memory_fetch_kind = {
	.name = "memory_fetch", .size = sizeof(struct memory_fetch), .read = read_fetch,
};

#include "core/memory/recall_document.h"

#include "codec/json.h"
#include "codec/sha256.h"

enum { LABELS_OF_FIELDS = 7, LABEL_VALUE_MAX = 400 };

void recall_maker_init(struct recall_maker *maker, uint64_t seed)
{
	maker->analyzer = analyzer_new();
	termbag_init(&maker->bag, seed);
	arena_init(&maker->arena);
}

void recall_maker_release(struct recall_maker *maker)
{
	analyzer_free(maker->analyzer);
	termbag_release(&maker->bag);
	arena_release(&maker->arena);
}

double recall_importance_part(enum importance importance)
{
	return 0.1 * (double)importance;
}

double recall_pinned_part(bool pinned)
{
	return pinned ? 0.25 : 0.0;
}

/* A letter for the field, then the value; for metadata "m", key, NUL, value. What is too long for a label is replaced
 * by its digest. */
struct str recall_label(struct arena *arena, enum recall_field field, struct str key, struct str value)
{
	static const char letters[] = "tkajirpm";
	struct str label = {.n = 1 + key.n + 1 + value.n};
	char hex[SHA256_HEX_SIZE], *p = arena_alloc(arena, label.n);

	label.p = p;
	*p++ = letters[field];
	if (key.n > 0)
		memcpy(p, key.p, key.n);
	p += key.n;
	*p++ = '\0';
	if (value.n > 0)
		memcpy(p, value.p, value.n);
	if (label.n <= LABEL_VALUE_MAX)
		return label;
	sha256_hex(label, hex);
	return arena_printf(arena, "%c#%s", letters[field], hex);
}

struct labels {
	struct arena *arena;
	struct str *list;
	size_t count;
};

static void add_label(struct labels *l, enum recall_field field, struct str key, struct str value)
{
	if (value.p)
		l->list[l->count++] = recall_label(l->arena, field, key, value);
}

/* The value of a metadata field as a filter names it; p == NULL where it cannot be filtered by. */
static struct str metadata_text(struct arena *arena, const struct json *value)
{
	struct json_writer w;
	struct buf out;
	struct str text;

	if (value->type == JSON_STRING)
		return value->s;
	if (value->type == JSON_NULL || value->type == JSON_ARRAY || value->type == JSON_OBJECT)
		return STR_NULL;
	buf_init(&out, 64);
	json_writer_init(&w, &out);
	json_put(&w, value);
	text = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return text;
}

/* Tags and metadata were written by us as JSON; what cannot be parsed is not there. */
static struct json parse_own(struct arena *arena, struct str text)
{
	struct json value = {.type = JSON_NULL};
	struct json_error error;

	if (text.n > 2)
		json_parse(text, JSON_DEPTH_MAX, arena, &value, &error);
	return value;
}

static void add_labels(struct labels *l, const struct memory *m, const struct json *tags, const struct json *metadata)
{
	add_label(l, RECALL_KIND, STR_NULL, m->kind);
	add_label(l, RECALL_AGENT, STR_NULL, m->agent);
	add_label(l, RECALL_TASK, STR_NULL, m->task.p ? m->task : STR(RECALL_NO_TASK));
	add_label(l, RECALL_IMPORTANCE, STR_NULL, str_of(memory_importance_name(m->importance)));
	add_label(l, RECALL_TRUST, STR_NULL, str_of(memory_trust_name(m->trust)));
	if (m->pinned)
		add_label(l, RECALL_PINNED, STR_NULL, STR("true"));
	if (m->pinned && m->task.p == NULL)
		add_label(l, RECALL_PINNED, STR_NULL, STR(RECALL_PINNED_SPACE));
	for (uint32_t i = 0; tags->type == JSON_ARRAY && i < tags->count; i++)
		add_label(l, RECALL_TAG, STR_NULL, tags->items[i].s);
	for (uint32_t i = 0; metadata->type == JSON_OBJECT && i < metadata->count; i++)
		add_label(l, RECALL_METADATA, metadata->members[i].key,
			  metadata_text(l->arena, &metadata->members[i].value));
}

void recall_maker_run(struct recall_maker *maker, const struct memory *m, struct index_document *ret)
{
	struct labels labels = {.arena = &maker->arena};
	struct json tags, metadata;

	arena_release(&maker->arena);
	termbag_clear(&maker->bag);
	tags = parse_own(&maker->arena, m->tags);
	metadata = parse_own(&maker->arena, m->metadata);
	termbag_add_text(&maker->bag, maker->analyzer, m->content, 1);
	if (m->summary.p)
		termbag_add_text(&maker->bag, maker->analyzer, m->summary, 1);
	for (uint32_t i = 0; tags.type == JSON_ARRAY && i < tags.count; i++)
		termbag_add_text(&maker->bag, maker->analyzer, tags.items[i].s, 1);
	labels.list = arena_calloc(&maker->arena, (size_t)LABELS_OF_FIELDS + tags.count + metadata.count,
				   sizeof(*labels.list));
	add_labels(&labels, m, &tags, &metadata);
	*ret = (struct index_document){
		.id = m->num,
		.terms = &maker->bag,
		.labels = labels.list,
		.label_count = labels.count,
		.group = m->task.p ? recall_label(&maker->arena, RECALL_TASK, STR_NULL, m->task) : STR_NULL,
		.created_ms = m->created_at_ms,
		.expires_ms = m->expires_at_ms ? m->expires_at_ms : INDEX_NEVER,
		.boost = (float)(1.0 + recall_importance_part(m->importance) + recall_pinned_part(m->pinned)),
		.hidden = m->superseded_by != 0,
	};
}

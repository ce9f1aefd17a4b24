#include "api/metrics_merge.h"

#define HELP "# HELP "

/* A family: its two lines of comment, and its samples. */
struct family {
	struct str name, head, samples;
};

static struct str next_line(struct str *rest)
{
	size_t n = str_find(*rest, '\n');
	struct str line = {rest->p, n < rest->n ? n + 1 : n};

	*rest = str_sub(*rest, line.n, rest->n);
	return line;
}

static bool next_family(struct str *rest, struct family *ret)
{
	struct str words;

	if (!str_has_prefix(*rest, STR(HELP)))
		return false;
	ret->head = next_line(rest);
	words = str_sub(ret->head, sizeof(HELP) - 1, ret->head.n);
	ret->name = str_cut(&words, ' ');
	ret->head.n += next_line(rest).n;
	ret->samples = (struct str){rest->p, 0};
	while (rest->n && !str_has_prefix(*rest, STR(HELP)))
		ret->samples.n += next_line(rest).n;
	return true;
}

static bool find_family(struct str text, struct str name, struct family *ret)
{
	while (next_family(&text, ret))
		if (str_eq(ret->name, name))
			return true;
	return false;
}

static bool is_of_process(struct str name)
{
	static const char *const prefixes[] = {"process_", "spine_http_", "spine_tls_", "spine_build_", "spine_clock_",
					       "spine_cluster_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (str_has_prefix(name, str_of(prefixes[i])))
			return true;
	return false;
}

/* `name 1` and `name{a="b"} 1` get a label more. */
static void put_labelled(struct buf *out, struct str samples, int shard)
{
	while (samples.n) {
		struct str line = next_line(&samples);
		size_t brace = str_find(line, '{'), space = str_find(line, ' ');
		size_t at = brace < space ? brace : space;

		buf_put(out, str_sub(line, 0, at));
		buf_printf(out, "{shard=\"%d\"%s", shard, brace < space ? "," : "}");
		buf_put(out, str_sub(line, brace < space ? at + 1 : at, line.n));
	}
}

void metrics_merge(struct buf *out, struct str own, const struct metrics_text *parts, size_t count)
{
	struct family family, of_part;

	while (next_family(&own, &family)) {
		buf_put(out, family.head);
		if (is_of_process(family.name)) {
			buf_put(out, family.samples);
			continue;
		}
		for (size_t i = 0; i < count; i++)
			if (find_family(parts[i].text, family.name, &of_part))
				put_labelled(out, of_part.samples, parts[i].shard);
	}
}

#include "client/sse.h"

enum { ID_MAX_BYTES = 1024, RETRY_MAX_MS = 60000 };

void sse_init(struct sse *s, size_t max_bytes)
{
	*s = (struct sse){.retry_ms = -1};
	buf_init(&s->in, max_bytes);
	buf_init(&s->data, max_bytes);
	buf_init(&s->id, ID_MAX_BYTES);
	buf_init(&s->next_id, ID_MAX_BYTES);
}

void sse_release(struct sse *s)
{
	buf_release(&s->in);
	buf_release(&s->data);
	buf_release(&s->id);
	buf_release(&s->next_id);
}

static void set(struct buf *b, struct str text)
{
	buf_clear(b);
	buf_put(b, text);
}

void sse_restart(struct sse *s)
{
	set(&s->next_id, buf_str(&s->id));
	buf_clear(&s->in);
	buf_clear(&s->data);
	s->has_data = s->is_named = false;
}

static struct str value_of(struct str line)
{
	struct str value = line;

	str_cut(&value, ':');
	if (value.n && value.p[0] == ' ')
		value = str_sub(value, 1, value.n);
	return value.p ? value : STR("");
}

static bool is_field(struct str line, struct str name)
{
	return str_has_prefix(line, name) && (line.n == name.n || line.p[name.n] == ':');
}

static void take_field(struct sse *s, struct str line)
{
	uint64_t ms;

	if (is_field(line, STR("data"))) {
		if (s->has_data)
			buf_putc(&s->data, '\n');
		buf_put(&s->data, value_of(line));
		s->has_data = true;
	} else if (is_field(line, STR("event"))) {
		s->is_named = true;
	} else if (is_field(line, STR("id"))) {
		set(&s->next_id, value_of(line));
	} else if (is_field(line, STR("retry")) && str_to_u64(value_of(line), &ms)) {
		s->retry_ms = ms < RETRY_MAX_MS ? (int64_t)ms : RETRY_MAX_MS;
	}
}

/* An empty line ends an event. */
static bool take_line(struct sse *s, struct str line, sse_event *event, void *arg)
{
	bool go_on;

	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (line.n) {
		take_field(s, line);
		return !buf_overflowed(&s->data) && !buf_overflowed(&s->next_id);
	}
	set(&s->id, buf_str(&s->next_id));
	go_on = event(arg, s, buf_str(&s->data));
	buf_clear(&s->data);
	s->has_data = s->is_named = false;
	return go_on;
}

bool sse_feed(struct sse *s, struct str bytes, sse_event *event, void *arg)
{
	struct str rest;
	bool go_on = true;

	buf_put(&s->in, bytes);
	rest = buf_str(&s->in);
	while (go_on && str_find(rest, '\n') < rest.n)
		go_on = take_line(s, str_cut(&rest, '\n'), event, arg);
	if (!go_on || buf_overflowed(&s->in))
		return false;
	buf_consume(&s->in, s->in.len - rest.n);
	return true;
}

#include "base/options.h"

#include "base/nearest.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static bool same_option(const struct option *a, const struct option *b)
{
	return strcmp(a->name, b->name) == 0 || (a->letter && a->letter == b->letter);
}

void options_init(struct options *o, const struct option_table *const *tables, struct arena *arena)
{
	size_t count = 0, at = 0;

	for (const struct option_table *const *t = tables; *t; t++)
		count += (*t)->count;
	*o = (struct options){.arena = arena, .count = count};
	o->values = arena_calloc(arena, count, sizeof(*o->values));
	for (const struct option_table *const *t = tables; *t; t++)
		for (size_t i = 0; i < (*t)->count; i++) {
			for (size_t k = 0; k < at; k++)
				assert(!same_option(o->values[k].option, &(*t)->options[i]));
			o->values[at++].option = &(*t)->options[i];
		}
}

static struct option_value *find_long(const struct options *o, struct str name)
{
	for (size_t i = 0; i < o->count; i++)
		if (str_is(name, o->values[i].option->name))
			return &o->values[i];
	return NULL;
}

static struct option_value *find_letter(const struct options *o, char letter)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->values[i].option->letter == letter)
			return &o->values[i];
	return NULL;
}

/* What is quoted in a message is cut, so that a message stays a message. */
static struct str cut(struct str s)
{
	enum { QUOTED_MAX = 80 };

	if (s.n <= QUOTED_MAX)
		return s;
	s.n = QUOTED_MAX;
	while (s.n > 0 && ((unsigned char)s.p[s.n] & 0xC0) == 0x80)
		s.n--;
	return s;
}

/* --- Command line --- */

struct args {
	char *const *at;	/* the next argument */
	char *const *end;
};

/* "--name" or "-n", as the user wrote it, goes before what was expected. */
static bool set_from_args(struct options *o, struct option_value *v, struct str written, struct str text,
			  struct buf *error)
{
	struct buf expected;
	bool good;

	buf_init(&expected, 4096);
	good = option_parse(v->option, text, o->arena, v, &expected);
	if (good)
		v->source = OPTION_FROM_ARGS;
	else
		buf_printf(error, "%.*s is \"%.*s\"; expected %s", STR_ARG(cut(written)), STR_ARG(cut(text)),
			   buf_str(&expected).p);
	buf_release(&expected);
	return good;
}

static bool refuse_unknown(const struct options *o, struct str written, struct str name, struct buf *error)
{
	struct nearest near;

	nearest_init(&near, name);
	for (size_t i = 0; i < o->count; i++)
		nearest_offer(&near, o->values[i].option->name);
	buf_printf(error, "unknown option %.*s", STR_ARG(cut(written)));
	if (near.best)
		buf_printf(error, "; did you mean --%s?", near.best);
	return false;
}

/* The value of an option that needs one and has none attached: the next argument. */
static bool next_value(struct args *args, const struct option *option, struct str written, struct str *ret,
		       struct buf *error)
{
	if (args->at == args->end) {
		buf_printf(error, "%.*s needs a value: ", STR_ARG(written));
		option_describe(option, error);
		return false;
	}
	*ret = str_of(*args->at++);
	return true;
}

static bool parse_long(struct options *o, struct args *args, struct str arg, struct buf *error)
{
	struct str value = str_sub(arg, 2, arg.n);
	struct str name = str_cut(&value, '=');
	struct str written = str_sub(arg, 0, name.n + 2);
	struct option_value *v = find_long(o, name);

	if (v == NULL)
		return refuse_unknown(o, written, name, error);
	if (value.p == NULL && v->option->type == OPTION_FLAG)
		value = STR("true");
	else if (value.p == NULL && !next_value(args, v->option, written, &value, error))
		return false;
	return set_from_args(o, v, written, value, error);
}

/* "-qn5", "-n5" and "-n 5": flags may stand together, the last may take a value. */
static bool parse_letters(struct options *o, struct args *args, struct str arg, struct buf *error)
{
	for (size_t i = 1; i < arg.n; i++) {
		struct option_value *v = find_letter(o, arg.p[i]);
		char text[3] = {'-', arg.p[i], '\0'};
		struct str written = str_of(text), value;

		if (v == NULL)
			return refuse_unknown(o, i == 1 && arg.n > 2 ? arg : written, str_sub(arg, 1, arg.n), error);
		if (v->option->type == OPTION_FLAG) {
			if (!set_from_args(o, v, written, STR("true"), error))
				return false;
			continue;
		}
		value = str_sub(arg, i + 1, arg.n);
		if (value.n == 0 && !next_value(args, v->option, written, &value, error))
			return false;
		return set_from_args(o, v, written, value, error);
	}
	return true;
}

bool options_parse_args(struct options *o, int argc, char *const *argv, struct buf *error)
{
	struct args args = {argv, argv + argc};
	bool only_args = false;

	o->args = arena_calloc(o->arena, (size_t)argc + 1, sizeof(*o->args));
	while (args.at < args.end) {
		struct str arg = str_of(*args.at++);

		if (only_args || arg.n < 2 || arg.p[0] != '-') {
			o->args[o->arg_count++] = arg.p;
		} else if (str_is(arg, "--")) {
			only_args = true;
		} else if (arg.p[1] == '-') {
			if (!parse_long(o, &args, arg, error))
				return false;
		} else if (!parse_letters(o, &args, arg, error)) {
			return false;
		}
	}
	return true;
}

/* --- Environment and defaults --- */

bool options_parse_env(struct options *o, struct buf *error)
{
	for (size_t i = 0; i < o->count; i++) {
		struct option_value *v = &o->values[i];
		const char *text = v->option->env ? getenv(v->option->env) : NULL;
		struct buf expected;

		if (text == NULL || text[0] == '\0' || v->source != OPTION_UNSET)
			continue;
		buf_init(&expected, 4096);
		if (option_parse(v->option, str_of(text), o->arena, v, &expected))
			v->source = OPTION_FROM_ENV;
		else
			buf_printf(error, "the environment variable %s is \"%.*s\"; expected %s", v->option->env,
				   STR_ARG(cut(str_of(text))), buf_str(&expected).p);
		buf_release(&expected);
		if (v->source == OPTION_UNSET)
			return false;
	}
	return true;
}

bool options_apply_defaults(struct options *o, struct buf *error)
{
	for (size_t i = 0; i < o->count; i++) {
		struct option_value *v = &o->values[i];
		const char *text = v->option->fallback;

		if (text == NULL || v->source != OPTION_UNSET)
			continue;
		if (!option_parse(v->option, str_of(text), o->arena, v, error)) {
			/* Defaults are ours, so only the machine can be at fault: its home is not known. */
			assert(v->option->type == OPTION_PATH);
			buf_clear(error);
			buf_printf(error, "the home directory is not known (HOME is not set); give --%s %s",
				   v->option->name, v->option->arg);
			return false;
		}
		v->source = OPTION_FROM_DEFAULT;
	}
	return true;
}

/* --- Configuration file --- */

struct config_line {
	const char *file;
	size_t number;
	struct str key;
	struct str value;
};

static bool refuse_line(const struct config_line *line, struct buf *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool refuse_line(const struct config_line *line, struct buf *error, const char *format, ...)
{
	va_list args;

	buf_printf(error, "%s:%zu: ", line->file, line->number);
	va_start(args, format);
	buf_vprintf(error, format, args);
	va_end(args);
	return false;
}

/* A comment begins at a '#' that opens the line or follows a space, outside of quotes. */
static struct str without_comment(struct str s)
{
	bool quoted = false;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"')
			quoted = !quoted;
		if (s.p[i] == '#' && !quoted && (i == 0 || s.p[i - 1] == ' ' || s.p[i - 1] == '\t'))
			return str_sub(s, 0, i);
	}
	return s;
}

static bool unquote(struct config_line *line, struct buf *error)
{
	struct str v = line->value;

	if (v.n == 0 || v.p[0] != '"')
		return true;
	if (v.n < 2 || v.p[v.n - 1] != '"')
		return refuse_line(line, error, "the value of %.*s has no closing quote", STR_ARG(cut(line->key)));
	line->value = str_sub(v, 1, v.n - 1);
	return true;
}

static const struct option *find_key(const struct option_table *const *known, struct str key)
{
	for (; *known; known++)
		for (size_t i = 0; i < (*known)->count; i++) {
			const struct option *option = &(*known)->options[i];

			if (option->key && str_is(key, option->key))
				return option;
		}
	return NULL;
}

static bool refuse_key(const struct config_line *line, const struct option_table *const *known, struct buf *error)
{
	struct nearest near;

	nearest_init(&near, line->key);
	for (; *known; known++)
		for (size_t i = 0; i < (*known)->count; i++)
			if ((*known)->options[i].key)
				nearest_offer(&near, (*known)->options[i].key);
	refuse_line(line, error, "unknown key \"%.*s\"", STR_ARG(cut(line->key)));
	if (near.best)
		buf_printf(error, "; did you mean \"%s\"?", near.best);
	return false;
}

static struct option_value *find_value(const struct options *o, const struct option *option)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->values[i].option == option)
			return &o->values[i];
	return NULL;
}

static bool apply_line(struct options *o, const struct option_table *const *known, struct config_line *line,
		       struct buf *error)
{
	const struct option *option = find_key(known, line->key);
	struct option_value parsed = {.option = option};
	struct option_value *v;
	struct buf expected;
	bool good;

	if (option == NULL)
		return refuse_key(line, known, error);
	if (!unquote(line, error))
		return false;
	buf_init(&expected, 4096);
	good = option_parse(option, line->value, o->arena, &parsed, &expected);
	if (!good)
		refuse_line(line, error, "%s is \"%.*s\"; expected %s", option->key, STR_ARG(cut(line->value)),
			    buf_str(&expected).p);
	buf_release(&expected);
	v = find_value(o, option);
	if (good && v && v->source == OPTION_UNSET) {
		parsed.source = OPTION_FROM_CONFIG;
		*v = parsed;
	}
	return good;
}

/* A key that stands twice is a mistake that would otherwise be found by wondering. */
static bool refuse_repeat(const struct config_line *lines, size_t count, const struct config_line *line,
			  struct buf *error)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(lines[i].key, line->key))
			return refuse_line(line, error, "%.*s was given already, in line %zu", STR_ARG(cut(line->key)),
					   lines[i].number);
	return true;
}

bool options_parse_config(struct options *o, const struct option_table *const *known, const char *file, struct str text,
			  struct buf *error)
{
	struct config_line line = {.file = file};
	struct config_line *lines;
	size_t room = 1, count = 0;

	for (size_t i = 0; i < text.n; i++)
		room += text.p[i] == '\n';
	lines = arena_calloc(o->arena, room, sizeof(*lines));
	while (text.p && text.n > 0) {
		struct str rest = str_cut(&text, '\n');

		line.number++;
		if (rest.n > 0 && rest.p[rest.n - 1] == '\r')
			rest.n--;
		rest = str_trim(without_comment(rest));
		if (rest.n == 0)
			continue;
		if (str_find(rest, '=') == rest.n)
			return refuse_line(&line, error, "expected \"key = value\", found \"%.*s\"",
					   STR_ARG(cut(rest)));
		line.key = str_trim(str_cut(&rest, '='));
		line.value = rest.p ? str_trim(rest) : STR("");
		if (!refuse_repeat(lines, count, &line, error) || !apply_line(o, known, &line, error))
			return false;
		lines[count++] = line;
	}
	return true;
}

/* --- Values --- */

const struct option_value *options_find(const struct options *o, const char *name)
{
	return find_long(o, str_of(name));
}

const struct option_value *options_value(const struct options *o, const char *name)
{
	const struct option_value *v = options_find(o, name);

	assert(v);
	return v;
}

bool options_flag(const struct options *o, const char *name)
{
	const struct option_value *v = options_value(o, name);

	assert(v->option->type == OPTION_FLAG);
	return v->boolean;
}

int64_t options_int(const struct options *o, const char *name)
{
	const struct option_value *v = options_value(o, name);

	assert(v->option->type == OPTION_INT || v->option->type == OPTION_SIZE || v->option->type == OPTION_DURATION ||
	       v->option->type == OPTION_PERCENT);
	return v->number;
}

const char *options_text(const struct options *o, const char *name)
{
	const struct option_value *v = options_value(o, name);

	assert(v->option->type == OPTION_TEXT || v->option->type == OPTION_PATH || v->option->type == OPTION_CHOICE);
	return v->text;
}

bool options_is_given(const struct options *o, const char *name)
{
	return options_value(o, name)->source > OPTION_FROM_DEFAULT;
}

/* One value of one option: reading it, and saying what it should have been. */
#include "base/options.h"

#include <assert.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

struct unit {
	const char *name;
	int64_t factor;
};

/* The first name of a factor is the one used in messages. */
static const struct unit size_units[] = {
	{"", 1}, {"b", 1}, {"k", 1 << 10}, {"kib", 1 << 10}, {"m", 1 << 20}, {"mib", 1 << 20},
	{"g", 1 << 30}, {"gib", 1 << 30}, {NULL, 0},
};

static const struct unit duration_units[] = {
	{"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0},
};

static const char *const true_words[] = {"true", "yes", "on", "1", NULL};
static const char *const false_words[] = {"false", "no", "off", "0", NULL};

static bool is_one_of(struct str text, const char *const *words)
{
	for (; *words; words++)
		if (str_ieq(text, str_of(*words)))
			return true;
	return false;
}

/* A number and one of the units after it. */
static bool parse_with_unit(struct str text, const struct unit *units, int64_t *ret)
{
	size_t digits = 0;
	uint64_t number;
	struct str unit;

	while (digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9')
		digits++;
	if (!str_to_u64(str_sub(text, 0, digits), &number) || number > INT64_MAX)
		return false;
	unit = str_sub(text, digits, text.n);
	for (; units->name; units++)
		if (str_ieq(unit, str_of(units->name)))
			return !__builtin_mul_overflow((int64_t)number, units->factor, ret);
	return false;
}

/* "99.5%" is 9950. */
static bool parse_percent(struct str text, int64_t *ret)
{
	struct str fraction = text.n && text.p[text.n - 1] == '%' ? str_sub(text, 0, text.n - 1) : text;
	struct str whole = str_cut(&fraction, '.');
	uint64_t number, hundredths = 0;

	if (!str_to_u64(whole, &number) || number > 1000000)
		return false;
	if (fraction.p) {
		if (fraction.n < 1 || fraction.n > 2)
			return false;
		for (size_t i = 0; i < 2; i++) {
			if (i < fraction.n && (fraction.p[i] < '0' || fraction.p[i] > '9'))
				return false;
			hundredths = hundredths * 10 + (i < fraction.n ? (uint64_t)(fraction.p[i] - '0') : 0);
		}
	}
	*ret = (int64_t)(number * 100 + hundredths);
	return true;
}

static void put_percent(struct buf *out, int64_t hundredths)
{
	buf_printf(out, "%lld", (long long)(hundredths / 100));
	if (hundredths % 100)
		buf_printf(out, hundredths % 10 ? ".%02lld" : ".%lld",
			   (long long)(hundredths % 10 ? hundredths % 100 : hundredths % 100 / 10));
	buf_putc(out, '%');
}

/* The largest unit that leaves a whole number. */
static void put_with_unit(struct buf *out, const struct unit *units, int64_t value)
{
	const struct unit *best = units;

	for (const struct unit *u = units; u->name; u++)
		if (u->name[0] && value % u->factor == 0 && value >= u->factor && u->factor > best->factor)
			best = u;
	buf_printf(out, "%lld%s", (long long)(value / best->factor), best->name);
}

static const struct unit *units_of(enum option_type type)
{
	static const struct unit plain[] = {{"", 1}, {NULL, 0}};

	return type == OPTION_SIZE ? size_units : type == OPTION_DURATION ? duration_units : plain;
}

static void describe_choices(const struct option *option, struct buf *out)
{
	buf_puts(out, "one of ");
	for (const char *const *c = option->choices; *c; c++)
		buf_printf(out, "%s%s", c == option->choices ? "" : ", ", *c);
}

static void describe_number(const struct option *option, struct buf *out)
{
	const struct unit *units = units_of(option->type);

	buf_puts(out, option->type == OPTION_SIZE ? "a size" : option->type == OPTION_DURATION ? "a duration" :
		      "a whole number");
	if (option->min != 0 || option->max != 0) {
		buf_puts(out, " from ");
		put_with_unit(out, units, option->min);
		buf_puts(out, " to ");
		put_with_unit(out, units, option->max);
	}
	if (option->type == OPTION_SIZE)
		buf_puts(out, ", in bytes or with k, m or g");
	else if (option->type == OPTION_DURATION)
		buf_puts(out, ", in seconds or with ms, s, m, h or d");
}

static void describe_percent(const struct option *option, struct buf *out)
{
	buf_puts(out, "a percentage from ");
	put_percent(out, option->min);
	buf_puts(out, " to ");
	put_percent(out, option->max);
	buf_puts(out, ", with two digits behind the point at most");
}

void option_describe(const struct option *option, struct buf *out)
{
	switch (option->type) {
	case OPTION_FLAG:
		buf_puts(out, "true or false");
		break;
	case OPTION_TEXT:
	case OPTION_LIST:
		buf_puts(out, "some text");
		break;
	case OPTION_PATH:
		buf_puts(out, "a path");
		break;
	case OPTION_CHOICE:
		describe_choices(option, out);
		break;
	case OPTION_INT:
	case OPTION_SIZE:
	case OPTION_DURATION:
		describe_number(option, out);
		break;
	case OPTION_PERCENT:
		describe_percent(option, out);
		break;
	}
}

static bool parse_number(const struct option *option, struct str text, int64_t *ret)
{
	int64_t number;

	if (option->type == OPTION_INT) {
		if (!str_to_i64(text, &number))
			return false;
	} else if (option->type == OPTION_PERCENT) {
		if (!parse_percent(text, &number))
			return false;
	} else if (!parse_with_unit(text, units_of(option->type), &number)) {
		return false;
	}
	if ((option->min != 0 || option->max != 0) && (number < option->min || number > option->max))
		return false;
	*ret = number;
	return true;
}

static const char *home_directory(void)
{
	const char *home = getenv("HOME");
	const struct passwd *pw;

	if (home && home[0] == '/')
		return home;
	pw = getpwuid(getuid());
	return pw && pw->pw_dir && pw->pw_dir[0] == '/' ? pw->pw_dir : NULL;
}

bool option_expand_path(const char *text, struct arena *arena, const char **ret)
{
	const char *at = text;

	if (strncmp(at, "${", 2) == 0) {
		const char *dash = strstr(at, ":-"), *end = strchr(at, '}');
		const char *value;

		assert(dash && end && dash < end);
		value = getenv(arena_cstr(arena, (struct str){at + 2, (size_t)(dash - at - 2)}));
		/* The XDG specification has relative paths in these variables ignored. */
		if (value && value[0] == '/')
			at = arena_printf(arena, "%s%s", value, end + 1).p;
		else
			at = arena_printf(arena, "%.*s%s", (int)(end - dash - 2), dash + 2, end + 1).p;
	}
	if (strncmp(at, "~/", 2) == 0) {
		const char *home = home_directory();

		if (home == NULL)
			return false;
		at = arena_printf(arena, "%s%s", home, at + 1).p;
	}
	*ret = at;
	return true;
}

static bool parse_path(struct str text, struct arena *arena, const char **ret, struct buf *error)
{
	if (text.n == 0) {
		buf_puts(error, "a path");
		return false;
	}
	if (!option_expand_path(arena_cstr(arena, text), arena, ret)) {
		buf_puts(error, "a path without \"~\", because the home directory is not known (HOME is not set)");
		return false;
	}
	return true;
}

static void list_add(struct option_value *v, struct arena *arena, const char *text)
{
	/* Lists are short: copying on each addition is simpler than keeping a capacity. */
	const char **list = arena_calloc(arena, v->list_count + 1, sizeof(*list));

	if (v->list_count)
		memcpy(list, v->list, v->list_count * sizeof(*list));
	list[v->list_count++] = text;
	v->list = list;
}

static bool parse_choice(const struct option *option, struct str text, const char **ret)
{
	for (const char *const *c = option->choices; *c; c++)
		if (str_is(text, *c)) {
			*ret = *c;
			return true;
		}
	return false;
}

bool option_parse(const struct option *option, struct str text, struct arena *arena, struct option_value *v,
		  struct buf *error)
{
	bool good = true;

	switch (option->type) {
	case OPTION_FLAG:
		good = is_one_of(text, true_words) || is_one_of(text, false_words);
		if (good)
			v->boolean = is_one_of(text, true_words);
		break;
	case OPTION_TEXT:
		v->text = arena_cstr(arena, text);
		break;
	case OPTION_LIST:
		list_add(v, arena, arena_cstr(arena, text));
		break;
	case OPTION_PATH:
		return parse_path(text, arena, &v->text, error);
	case OPTION_CHOICE:
		good = parse_choice(option, text, &v->text);
		break;
	case OPTION_INT:
	case OPTION_SIZE:
	case OPTION_DURATION:
	case OPTION_PERCENT:
		good = parse_number(option, text, &v->number);
		break;
	}
	if (!good)
		option_describe(option, error);
	return good;
}

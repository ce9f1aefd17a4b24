/* What callers ask of values. Everything takes NULL and values of any type. */
#include "json.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(const ms_json *value, ms_type type)
{
	return value && value->type == type;
}

ms_type ms_json_type(const ms_json *value)
{
	return value ? value->type : MS_NULL;
}

size_t ms_json_count(const ms_json *value)
{
	return is(value, MS_ARRAY) || is(value, MS_OBJECT) ? value->count : 0;
}

const ms_json *ms_json_at(const ms_json *value, size_t index)
{
	return index < ms_json_count(value) ? &value->children[index] : NULL;
}

const char *ms_json_name(const ms_json *value, size_t index)
{
	return is(value, MS_OBJECT) && index < value->count ? value->children[index].name : NULL;
}

static const ms_json *get(const ms_json *value, const char *name, size_t len)
{
	if (!is(value, MS_OBJECT))
		return NULL;
	for (size_t i = 0; i < value->count; i++)
		if (value->children[i].name_len == len && memcmp(value->children[i].name, name, len) == 0)
			return &value->children[i];
	return NULL;
}

const ms_json *ms_json_get(const ms_json *value, const char *name)
{
	return name ? get(value, name, strlen(name)) : NULL;
}

/* --- JSON Pointer --- */

/* One token of a pointer against a name: "~1" is "/", "~0" is "~". */
static bool token_is(const char *token, size_t len, const struct ms_json *member)
{
	size_t at = 0;

	for (size_t i = 0; i < len; i++, at++) {
		char c = token[i];

		if (c == '~' && i + 1 < len)
			c = token[++i] == '1' ? '/' : '~';
		if (at >= member->name_len || member->name[at] != c)
			return false;
	}
	return at == member->name_len;
}

static const ms_json *step_object(const ms_json *value, const char *token, size_t len)
{
	for (size_t i = 0; i < value->count; i++)
		if (token_is(token, len, &value->children[i]))
			return &value->children[i];
	return NULL;
}

static const ms_json *step_array(const ms_json *value, const char *token, size_t len)
{
	size_t index = 0;

	if (len == 0 || len > 9 || (len > 1 && token[0] == '0'))
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (token[i] < '0' || token[i] > '9')
			return NULL;
		index = index * 10 + (size_t)(token[i] - '0');
	}
	return ms_json_at(value, index);
}

const ms_json *ms_json_find(const ms_json *value, const char *pointer)
{
	size_t len;

	if (pointer == NULL)
		return NULL;
	while (value && *pointer == '/') {
		pointer++;
		len = strcspn(pointer, "/");
		value = is(value, MS_OBJECT) ? step_object(value, pointer, len) :
			is(value, MS_ARRAY) ? step_array(value, pointer, len) : NULL;
		pointer += len;
	}
	return *pointer == '\0' ? value : NULL;
}

/* --- Scalars --- */

const char *ms_json_text(const ms_json *value, size_t *ret_len)
{
	if (ret_len)
		*ret_len = is(value, MS_TEXT) ? value->text_len : 0;
	return is(value, MS_TEXT) ? value->text : NULL;
}

int64_t ms_json_int(const ms_json *value, int64_t otherwise)
{
	if (is(value, MS_INT))
		return value->i;
	/* 2^53: all beyond it were refused, or are too large for an int64_t. */
	if (is(value, MS_DOUBLE) && fabs(value->d) < 9007199254740992.0 && value->d == trunc(value->d))
		return (int64_t)value->d;
	return otherwise;
}

double ms_json_number(const ms_json *value, double otherwise)
{
	return is(value, MS_DOUBLE) ? value->d : is(value, MS_INT) ? (double)value->i : otherwise;
}

bool ms_json_bool(const ms_json *value, bool otherwise)
{
	return is(value, MS_BOOL) ? value->boolean : otherwise;
}

/* --- As text --- */

ms_status ms_json_print(const ms_json *value, char **ret, ms_error *ret_error)
{
	const char *source = value ? value->source : "null";
	size_t len = value ? value->source_len : 4;
	char *copy = malloc(len + 1);

	msi_error_clear(ret_error);
	*ret = copy;
	if (copy == NULL)
		return msi_error_no_memory(ret_error);
	memcpy(copy, source, len);
	copy[len] = '\0';
	return MS_OK;
}

void ms_free(char *text)
{
	free(text);
}

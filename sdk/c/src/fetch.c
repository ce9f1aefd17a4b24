#include "fetch.h"

#include "answer.h"
#include "call.h"
#include "error.h"

#include <stdlib.h>
#include <string.h>

/* What is put together. */
struct joined {
	struct msi_buffer memories;	/* JSON, divided by commas */
	struct msi_buffer missing;
};

static bool is_not_given(const ms_json *missing)
{
	const char *reason = ms_json_text(ms_json_get(missing, "reason"), NULL);

	return reason && strcmp(reason, "not_given") == 0;
}

/* The ids to ask for again, ended by NULL: an array to free, its texts borrowed from the answer. */
static ms_status list_later(const ms_answer *answer, const char ***ret, size_t *ret_count, ms_error *ret_error)
{
	const ms_json *missing = ms_json_get(ms_answer_json(answer), "missing");
	const char **later = calloc(ms_json_count(missing) + 1, sizeof(*later));
	size_t count = 0;

	if (later == NULL)
		return msi_error_no_memory(ret_error);
	for (size_t i = 0; i < ms_json_count(missing); i++) {
		const ms_json *one = ms_json_at(missing, i);
		const char *id = is_not_given(one) ? ms_json_text(ms_json_get(one, "id"), NULL) : NULL;

		if (id)
			later[count++] = id;
	}
	*ret = later;
	*ret_count = count;
	return MS_OK;
}

static ms_status ask(ms_client *client, const struct msi_fetch *how, const char *const *ids, ms_answer **ret,
		     ms_error *ret_error)
{
	ms_request request = {.operation = how->operation, .agent = how->agent};
	struct msi_body b;

	msi_body_begin(&b, ret_error);
	msi_body_text(&b, "lease", how->lease);
	msi_body_list(&b, how->list, ids);
	return msi_call_with(client, &request, &b, how->handoff ? "id" : NULL, how->handoff, ret, ret_error);
}

/* --- Putting together --- */

static void put_value(struct msi_buffer *out, const ms_json *value)
{
	if (out->len)
		msi_buffer_puts(out, ",");
	msi_buffer_append(out, value->source, value->source_len);
}

static void keep(struct joined *joined, const ms_answer *answer)
{
	const ms_json *memories = ms_json_get(ms_answer_json(answer), "memories");
	const ms_json *missing = ms_json_get(ms_answer_json(answer), "missing");

	for (size_t i = 0; i < ms_json_count(memories); i++)
		put_value(&joined->memories, ms_json_at(memories, i));
	for (size_t i = 0; i < ms_json_count(missing); i++)
		if (!is_not_given(ms_json_at(missing, i)))
			put_value(&joined->missing, ms_json_at(missing, i));
}

static void put_list(struct msi_buffer *out, const char *name, const struct msi_buffer *items)
{
	msi_body_quote(out, name);
	msi_buffer_puts(out, ":[");
	msi_buffer_append(out, msi_buffer_text(items), items->len);
	msi_buffer_puts(out, "]");
}

/* The two lists, and whatever else the last answer says. */
static void put_answer(const struct joined *joined, const ms_json *last, struct msi_buffer *out)
{
	msi_buffer_puts(out, "{");
	put_list(out, "memories", &joined->memories);
	msi_buffer_puts(out, ",");
	put_list(out, "missing", &joined->missing);
	for (size_t i = 0; i < ms_json_count(last); i++) {
		const char *name = ms_json_name(last, i);

		if (strcmp(name, "memories") == 0 || strcmp(name, "missing") == 0)
			continue;
		msi_buffer_puts(out, ",");
		msi_body_quote(out, name);
		msi_buffer_puts(out, ":");
		msi_buffer_append(out, ms_json_at(last, i)->source, ms_json_at(last, i)->source_len);
	}
	msi_buffer_puts(out, "}");
}

static ms_status fail_joined(bool is_full, ms_error *ret_error)
{
	if (!is_full)
		return msi_error_no_memory(ret_error);
	return msi_error_set(ret_error, MS_BAD_ANSWER, "bad_answer", "these memories are larger together than "
			     "max_answer_bytes allows; ask for fewer at a time, or open the client with more");
}

static ms_status join(ms_client *client, const struct joined *joined, const ms_answer *last, ms_answer **ret,
		      ms_error *ret_error)
{
	struct ms_answer *answer = msi_answer_new(client->max_answer_bytes);
	ms_status status;

	if (answer == NULL)
		return msi_error_no_memory(ret_error);
	answer->status = last->status;
	answer->tries = last->tries;
	put_answer(joined, ms_answer_json(last), &answer->body);
	if (msi_buffer_failed(&answer->body) || msi_buffer_failed(&joined->memories) ||
	    msi_buffer_failed(&joined->missing))
		status = fail_joined(answer->body.is_full || joined->memories.is_full || joined->missing.is_full,
				     ret_error);
	else
		status = msi_answer_read(answer, ret_error);
	if (status == MS_OK)
		*ret = answer;
	else
		ms_answer_free(answer);
	return status;
}

/* --- Asking until all is there --- */

/* Asks for what *answer did not give; the ids are borrowed from it. It is freed, and *answer is what came. */
static ms_status ask_again(ms_client *client, const struct msi_fetch *how, const char *const *ids, ms_answer **answer,
			   ms_error *ret_error)
{
	ms_answer *before = *answer;
	ms_status status = ask(client, how, ids, answer, ret_error);

	ms_answer_free(before);
	return status;
}

/* *answer is the first one; then it is the whole, or NULL. */
static ms_status fetch_rest(ms_client *client, const struct msi_fetch *how, const char **later, size_t count,
			    ms_answer **answer, ms_error *ret_error)
{
	ms_status status = MS_OK;
	ms_answer *whole = NULL;
	struct joined joined;
	size_t before;

	msi_buffer_init(&joined.memories, client->max_answer_bytes);
	msi_buffer_init(&joined.missing, client->max_answer_bytes);
	while (status == MS_OK && count && !msi_buffer_failed(&joined.memories)) {
		keep(&joined, *answer);
		status = ask_again(client, how, later, answer, ret_error);
		free(later);
		later = NULL;
		before = count;
		if (status == MS_OK)
			status = list_later(*answer, &later, &count, ret_error);
		/* Each answer gives one at least: so it ends. */
		if (status == MS_OK && count >= before)
			status = msi_error_set(ret_error, MS_BAD_ANSWER, "bad_answer", "the answer of %s cannot be "
					       "used: it gives none of the memories that it was asked for",
					       client->url);
	}
	if (status == MS_OK)
		keep(&joined, *answer);
	if (status == MS_OK)
		status = join(client, &joined, *answer, &whole, ret_error);
	free(later);
	ms_answer_free(*answer);
	*answer = whole;
	msi_buffer_release(&joined.memories);
	msi_buffer_release(&joined.missing);
	return status;
}

ms_status msi_fetch(ms_client *client, const struct msi_fetch *how, const char *const *ids, ms_answer **ret,
		    ms_error *ret_error)
{
	ms_answer *answer = NULL;
	const char **later = NULL;
	size_t count = 0;
	ms_status status = ask(client, how, ids, &answer, ret_error);

	if (ret)
		*ret = NULL;
	if (status == MS_OK)
		status = list_later(answer, &later, &count, ret_error);
	if (status == MS_OK && count)
		status = fetch_rest(client, how, later, count, &answer, ret_error);
	else
		free(later);
	if (status == MS_OK && ret)
		*ret = answer;
	else
		ms_answer_free(answer);
	return status;
}

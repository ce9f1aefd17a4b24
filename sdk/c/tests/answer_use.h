/* Everything that a program may do with what a server sent, done to any bytes at all: for the fuzzer (fuzz_answer.c),
 * and for answers.c, which damages a few of its own. A fault shows under a sanitizer, or ends the program. */
#ifndef ANSWER_USE_H
#define ANSWER_USE_H

#include "../src/answer.h"
#include "../src/client.h"
#include "../src/error.h"
#include "../src/work.h"

#include <stdlib.h>
#include <string.h>

/* Reads all of a text, so that a sanitizer sees where it ends. */
static size_t use_text(const char *text)
{
	return text ? strlen(text) : 0;
}

static size_t use_values(const ms_json *value, int depth)
{
	size_t sum = (size_t)ms_json_int(value, 1) + (size_t)ms_json_bool(value, true), len;
	double number = ms_json_number(value, 1);
	const char *text = ms_json_text(value, &len);

	if (number != number || (text && text[len] != '\0'))
		abort();
	sum += use_text(text);
	for (size_t i = 0; i < ms_json_count(value) && depth > 0; i++) {
		const char *name = ms_json_name(value, i);

		if (ms_json_at(value, i) == NULL || (name == NULL) != (ms_json_type(value) == MS_ARRAY))
			abort();
		sum += use_text(name) + use_values(ms_json_at(value, i), depth - 1);
	}
	return sum + ms_json_count(ms_json_find(value, "/handoffs/0/envelope/task"));
}

/* What is printed is JSON again, and of the same type. */
static void use_printed(const ms_json *value)
{
	ms_answer *again;
	char *text;

	if (ms_json_print(value, &text, NULL) != MS_OK)
		return;
	if (ms_json_read(text, strlen(text), &again, NULL) != MS_OK)
		abort();
	if (ms_json_type(ms_answer_json(again)) != ms_json_type(value))
		abort();
	ms_answer_free(again);
	ms_free(text);
}

static ms_answer *answer_of(const char *data, size_t size, int status)
{
	ms_answer *answer = msi_answer_new(1 << 20);

	if (answer == NULL)
		abort();
	msi_buffer_append(&answer->body, data, size);
	answer->status = status;
	return answer;
}

static void use_problem(const char *data, size_t size)
{
	ms_answer *answer = answer_of(data, size, 409);
	ms_error error;
	ms_status status = msi_answer_problem(answer, "http://127.0.0.1", &error);

	if (status != error.status || status == MS_OK || strlen(error.code) >= MS_CODE_SIZE || error.code[0] == '\0' ||
	    strlen(error.detail) >= MS_DETAIL_SIZE || strlen(error.field) >= MS_FIELD_SIZE)
		abort();
	ms_answer_free(answer);
}

static void use_work(const char *data, size_t size)
{
	ms_answer *answer = answer_of(data, size, 200);
	ms_client client = {.url = (char *)(uintptr_t)"http://127.0.0.1"};
	ms_work *work = NULL;

	msi_answer_read(answer, NULL);
	if (msi_work_new(&client, answer, &work, NULL) != MS_OK)
		return;
	if (!ms_work_id(work) || !ms_work_lease(work) || !ms_work_to(work) || !ms_work_envelope_id(work))
		abort();
	use_text(ms_work_prompt(work));
	use_text(ms_work_envelope(work));
	use_text(ms_work_task(work));
	use_text(ms_work_intent(work));
	use_text(ms_work_summary(work));
	use_text(ms_work_from(work));
	if (ms_work_attempt(work) < 1 || (ms_work_redelivered(work) && ms_work_json(work) == NULL))
		abort();
	ms_work_free(work);
}

static void use_answer(const char *data, size_t size)
{
	ms_answer *answer;
	ms_error error;

	if (ms_json_read(data, size, &answer, &error) == MS_OK) {
		use_values(ms_answer_json(answer), MSI_JSON_DEPTH);
		use_printed(ms_answer_json(answer));
		use_text(ms_id(answer));
		ms_answer_free(answer);
	} else if (error.detail[0] == '\0') {
		abort();
	}
	use_problem(data, size);
	use_work(data, size);
}

#endif

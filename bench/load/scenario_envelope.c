/* Clients that hand work over: POST /v1/envelopes in a store that load/fill made.
 *
 * A summary of 20 to 40 words, another one with each request, that names five memories; the usual 20 recent ones and
 * the pins; 4,000 tokens. The summaries come from the file that load/fill has written beside the store.
 */
#include "scenario.h"

#include "base/mem.h"
#include "codec/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUMMARIES_MAX = 1 << 16, SUMMARY_BYTES_MAX = 1 << 16, CITATIONS = 5 };

struct filled {
	uint64_t memories;
	size_t count;
	struct str summaries[SUMMARIES_MAX];
};

static FILE *open_in(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", name);
	file = dir ? fopen(path, "re") : NULL;
	if (file == NULL)
		fprintf(stderr, "load: this scenario needs --filled DIR, a directory that load/fill has made\n");
	return file;
}

static bool prepare_envelope(struct scenario_config *config)
{
	FILE *mark = open_in(config->filled, "filled"), *lines = mark ? open_in(config->filled, "summaries") : NULL;
	struct filled *f = mem_zalloc(sizeof(*f));
	char line[SUMMARY_BYTES_MAX];
	bool ok = lines && fscanf(mark, "%" SCNu64, &f->memories) == 1;

	while (ok && f->count < SUMMARIES_MAX && fgets(line, sizeof(line), lines)) {
		size_t n = strcspn(line, "\n");

		f->summaries[f->count++] = (struct str){mem_strndup(line, n), n};
	}
	if (mark)
		fclose(mark);
	if (lines)
		fclose(lines);
	config->shared = f;
	return ok && f->memories > 0 && f->count > 0;
}

/* A well-mixed number for a number. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void put_summary(struct scenario_client *c, struct buf *out)
{
	const struct filled *f = c->config->shared;
	uint64_t dice = mix((c->config->seed << 48) + (c->number << 32) + ++c->count);

	buf_put(out, f->summaries[dice % f->count]);
	buf_puts(out, " See");
	for (int i = 0; i < CITATIONS; i++) {
		dice = mix(dice + 1);
		buf_printf(out, "%s ms-%" PRIu64, i ? "," : "", dice % f->memories + 1);
	}
	buf_puts(out, ".");
}

static void request_envelope(struct scenario_client *c, struct buf *out)
{
	struct json_writer w;
	struct buf summary;

	buf_init(&summary, SUMMARY_BYTES_MAX * 2);
	put_summary(c, &summary);
	buf_clear(&c->scratch);
	json_writer_init(&w, &c->scratch);
	json_begin_object(&w);
	json_member_cstr(&w, "target_agent", "writer");
	json_member_str(&w, "task_summary", buf_str(&summary));
	json_member_int(&w, "include_recent", 20);
	json_member_bool(&w, "include_pins", true);
	json_key(&w, "constraints");
	json_begin_object(&w);
	json_member_int(&w, "max_tokens", 4000);
	json_member_cstr(&w, "tone", "plain words");
	json_end_object(&w);
	json_end_object(&w);
	buf_release(&summary);
	scenario_put_request(out, "POST", "/v1/envelopes", "Spine-Agent: researcher\r\n", buf_str(&c->scratch));
}

static enum scenario_step reply_envelope(struct scenario_client *c, int status, struct str body)
{
	(void)c;
	(void)body;
	return status == 201 ? SCENARIO_DONE : SCENARIO_FAILED;
}

const struct scenario scenario_envelope = {
	"envelope", "hands over: 20 recent, the pins, 5 citations, 4,000 tokens; needs --filled",
	.prepare = prepare_envelope, .request = request_envelope, .reply = reply_envelope,
};

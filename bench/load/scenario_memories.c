/* Clients that store and read memories. */
#include "scenario.h"

#include <inttypes.h>
#include <stdio.h>

enum { BATCH_MEMORIES = 100 };

/* A number that no other request of any client and run has. */
static uint64_t next_number(struct scenario_client *c)
{
	return c->config->seed * UINT64_C(1000000000000) + c->number * UINT64_C(100000000) + c->count++;
}

static void put_memory(struct scenario_client *c, struct buf *out)
{
	buf_puts(out, "{\"content\":\"");
	scenario_put_text(out, next_number(c), c->config->bytes);
	buf_puts(out, "\",\"kind\":\"observation\",\"tags\":[\"load\"],\"importance\":\"high\"}");
}

static enum scenario_step expect_created(struct scenario_client *c, int status, struct str body)
{
	(void)c;
	(void)body;
	return status == 201 ? SCENARIO_DONE : SCENARIO_FAILED;
}

static enum scenario_step expect_ok(struct scenario_client *c, int status, struct str body)
{
	(void)c;
	(void)body;
	return status == 200 ? SCENARIO_DONE : SCENARIO_FAILED;
}

static void request_store(struct scenario_client *c, struct buf *out)
{
	buf_clear(&c->scratch);
	put_memory(c, &c->scratch);
	scenario_put_request(out, "POST", "/v1/memories", "", buf_str(&c->scratch));
}

static void request_store_keyed(struct scenario_client *c, struct buf *out)
{
	char headers[64];

	buf_clear(&c->scratch);
	snprintf(headers, sizeof(headers), "Idempotency-Key: load-%" PRIu64 "-%" PRIu64 "-%" PRIu64 "\r\n",
		 c->config->seed, c->number, c->count);
	put_memory(c, &c->scratch);
	scenario_put_request(out, "POST", "/v1/memories", headers, buf_str(&c->scratch));
}

static void request_batch(struct scenario_client *c, struct buf *out)
{
	buf_clear(&c->scratch);
	buf_puts(&c->scratch, "{\"memories\":[");
	for (int i = 0; i < BATCH_MEMORIES; i++) {
		if (i > 0)
			buf_putc(&c->scratch, ',');
		put_memory(c, &c->scratch);
	}
	buf_puts(&c->scratch, "]}");
	scenario_put_request(out, "POST", "/v1/memories/batch", "", buf_str(&c->scratch));
}

static void request_get(struct scenario_client *c, struct buf *out)
{
	scenario_put_request(out, "GET", "/v1/memories/ms-1", "", STR(""));
	c->count++;
}

static void request_ready(struct scenario_client *c, struct buf *out)
{
	scenario_put_request(out, "GET", "/readyz", "", STR(""));
	c->count++;
}

const struct scenario scenario_store = {
	"store", "one memory a request", .request = request_store, .reply = expect_created,
};
const struct scenario scenario_store_keyed = {
	"store-keyed", "the same, with an Idempotency-Key", .request = request_store_keyed, .reply = expect_created,
};
const struct scenario scenario_batch = {
	"batch", "a hundred memories a request", .request = request_batch, .reply = expect_created,
};
const struct scenario scenario_get = {
	"get", "reads ms-1", .request = request_get, .reply = expect_ok,
};
const struct scenario scenario_ready = {
	"ready", "asks /readyz: what HTTP alone costs", .request = request_ready, .reply = expect_ok,
};

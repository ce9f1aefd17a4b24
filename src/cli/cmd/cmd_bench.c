/* spine bench: a load test of handoffs against a running server, in a space of its own. */
#include "cli/ask.h"
#include "cli/bench/bench.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/shared_options.h"

#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CONCURRENT_MAX = 5000, BODY_MAX_BYTES = 4 << 20, OTHER_DESCRIPTORS = 64 };

static const struct option bench_options[] = {
	{.name = "concurrent", .letter = 'c', .arg = "N", .type = OPTION_LIST,
	 .help = "so many handoffs at a time, 1 to 5000; may be given several times, one after the other; 100 and then "
		 "1000 where it is not given"},
	{.name = "rounds", .letter = 'r', .arg = "N", .type = OPTION_INT, .fallback = "10", .min = 1, .max = 1000,
	 .help = "so many handoffs in each of these places, one after the other"},
	{.name = "max-time", .arg = "TIME", .type = OPTION_DURATION, .fallback = "60s", .min = 1000, .max = 3600000,
	 .help = "no longer than that for each N"},
	{.name = "keep", .type = OPTION_FLAG, .help = "do not remove the space afterwards"},
	{.name = "yes-remote", .type = OPTION_FLAG,
	 .help = "also where the server is on another machine, which others may be working with"},
};

static const struct option_table bench_table = {"Load", bench_options, OPTION_COUNT(bench_options)};

/* What each handoff needs: two connections. */
static int make_room(const struct cli *cli, int64_t concurrent)
{
	rlim_t wanted = 2 * (rlim_t)concurrent + OTHER_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return CLI_OK;
	if (limit.rlim_max < wanted)
		return cli_usage(cli, "%lld at a time need %llu open files, and only %llu are allowed (ulimit -n)",
				 (long long)concurrent, (unsigned long long)wanted, (unsigned long long)limit.rlim_max);
	limit.rlim_cur = wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
	return CLI_OK;
}

static int read_levels(struct bench *b)
{
	static const char *const usual[] = {"100", "1000"};
	const struct option_value *given = options_value(&b->cli->options, "concurrent");
	const char *const *list = given->list_count ? given->list : usual;
	size_t count = given->list_count ? given->list_count : 2;
	int code = CLI_OK;

	if (count > BENCH_LEVELS_MAX)
		return cli_usage(b->cli, "--concurrent can be given %d times", BENCH_LEVELS_MAX);
	for (size_t i = 0; i < count && code == CLI_OK; i++) {
		uint64_t n;

		if (!str_to_u64(str_of(list[i]), &n) || n < 1 || n > CONCURRENT_MAX)
			return cli_usage(b->cli, "--concurrent is \"%.40s\"; expected a number from 1 to %d", list[i],
					 CONCURRENT_MAX);
		b->levels[i].concurrent = (int64_t)n;
		b->levels[i].planned = (int64_t)n * options_int(&b->cli->options, "rounds");
		code = make_room(b->cli, (int64_t)n);
	}
	return code;
}

/* --- The space --- */

static const char *make_name(struct arena *arena)
{
	uint32_t number = 0;

	if (getentropy(&number, sizeof(number)) != 0)
		return NULL;
	return arena_printf(arena, "bench-%08x", number).p;
}

/* Memories for the handoffs to cite and to be found: notes of one task, as an agent would store them. */
static void put_memories(struct json_writer *w)
{
	static const char *const words[] = {
		"gateway", "timeout", "backoff", "jitter", "ledger", "refund", "webhook", "token", "replica", "queue",
		"schema", "invoice", "budget", "cursor", "digest", "lease",
	};
	enum { WORDS = sizeof(words) / sizeof(words[0]) };

	json_begin_object(w);
	json_key(w, "memories");
	json_begin_array(w);
	for (size_t i = 0; i < BENCH_MEMORIES; i++) {
		char text[512];

		snprintf(text, sizeof(text),
			 "Step %zu of the retry policy: the %s waits for the %s, at most %zu times, and the %s is "
			 "told. Seen in the log of the %s on the second day; the %s and the %s agreed.",
			 i + 1, words[i % WORDS], words[(i * 3 + 1) % WORDS], i % 5 + 1, words[(i * 5 + 2) % WORDS],
			 words[(i * 7 + 3) % WORDS], words[(i * 11 + 4) % WORDS], words[(i * 13 + 5) % WORDS]);
		json_begin_object(w);
		json_member_cstr(w, "content", text);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

/* The same space for the sender of these as for the lanes: the client of the command has it, too. */
static int fill_space(struct bench *b)
{
	struct client_request store = {.method = "POST", .path = "/v1/memories/batch", .creates = true};
	struct json_writer w;
	struct buf body;
	struct ask ask;
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	put_memories(&w);
	store.body = buf_str(&body);
	code = ask_run(b->cli, &store, &ask);
	ask_release(&ask);
	buf_release(&body);
	if (code != CLI_OK)
		return code;
	/* The first search builds the index: that is not what is measured. */
	code = ask_run_get(b->cli, "/v1/memories?query=retry+policy", &ask);
	ask_release(&ask);
	return code;
}

static void remove_space(struct bench *b)
{
	struct client_request request = {
		.method = "DELETE", .repeatable = true,
		.path = arena_printf(b->cli->arena, "/v1/spaces/%s?confirm=%s", b->space, b->space).p,
	};
	struct ask ask;

	if (options_flag(&b->cli->options, "keep")) {
		b->left = "--keep was given";
		return;
	}
	ask_make(b->cli, &request, b->cli->arena, &ask);
	b->is_removed = ask.exit == CLI_OK;
	if (str_is(ask.code, "not_found") || str_is(ask.code, "method_not_allowed"))
		b->left = "this server is of a version that cannot remove spaces";
	else if (!b->is_removed)
		b->left = arena_cstr(b->cli->arena, ask_sentence(b->cli, &ask));
	ask_release(&ask);
}

/* --- The command --- */

static int run(struct bench *b)
{
	int64_t max_ms = options_int(&b->cli->options, "max-time");
	int code = fill_space(b);

	for (size_t i = 0; code == CLI_OK && !b->is_stopped && i < BENCH_LEVELS_MAX && b->levels[i].concurrent; i++) {
		if (!bench_run_level(b, &b->levels[i], max_ms))
			code = CLI_FAILED;
		else
			b->level_count++;
	}
	stop_count(&b->stop);
	remove_space(b);
	if (b->level_count)
		bench_report(b);
	if (b->left)
		cli_note(b->cli, "(the space %s stays: %s)", b->space, b->left);
	return code != CLI_OK ? code : bench_is_healthy(b) ? CLI_OK : CLI_FAILED;
}

static int exec_bench(struct cli *cli)
{
	struct bench b = {.cli = cli, .space = make_name(cli->arena)};
	int code = read_levels(&b);

	if (code != CLI_OK)
		return code;
	if (options_value(&cli->options, "space")->source == OPTION_FROM_ARGS)
		return cli_usage(cli, "bench makes a space of its own, and removes it; --space has no place in it");
	cli->space = b.space;
	if (b.space == NULL || cli_client(cli) == NULL)
		return CLI_USAGE;
	if (!client_is_local(cli->client) && !options_flag(&cli->options, "yes-remote"))
		return cli_usage(cli, "%s is not on this machine, and others may be working with it; if it is to be "
				 "put under load all the same, say --yes-remote", client_url(cli->client));
	if (!stop_init(&b.stop, cli))
		return CLI_FAILED;
	code = run(&b);
	stop_release(&b.stop);
	return code;
}

const struct command cmd_bench = {
	.name = "bench",
	.summary = "Puts a server under load, and measures each stage of a handoff",
	.usage = "",
	.about = "In a space of its own, which is removed afterwards: memories are stored; then N senders pack "
		 "envelopes that cite some of them and find others, each for a receiver that waits, and the receivers "
		 "ack. Stages: pack; queue, until the server has it for good; deliver, until the receiver has it in "
		 "hand; ack; whole, from sending to the ack. Nothing is tried again: a call that is refused or breaks "
		 "is a handoff that failed. Senders and receivers take their share of this machine; where the server "
		 "is on it, too, measure while nothing else runs.\n\n"
		 "The verdict: healthy are less than 0.5 % of failures, a completeness of 95 % or more, and a 99th "
		 "percentile below 10 seconds. The exit code is 0 where all of it is healthy, 1 where it is not or "
		 "Ctrl-C has stopped it; the space is removed then, too.",
	.examples = {
		"spine bench --concurrent 20 --rounds 5",
		"spine bench -c 10 --json | jq '.levels[].latency_ms.whole'",
	},
	.tables = {&bench_table, &client_table},
	.exec = exec_bench,
};

#include "cli/receive_exec.h"

#include "base/clock.h"
#include "cli/ask.h"
#include "cli/child.h"
#include "cli/request/body.h"
#include "cli/request/settle.h"
#include "codec/rfc3339.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum {
	OUTPUT_MAX_BYTES = 256 * 1024,		/* what the server takes as a result */
	BODY_MAX_BYTES = 4 * 1024 * 1024,
	INPUT_MAX_BYTES = 512 * 1024 * 1024,
	REASON_MAX_BYTES = 4096,		/* what the server takes as a reason */
	LEASE_MIN_MS = 300,
	KILL_AFTER_MS = 5000,
	RETRY_PAUSE_MS = 500,
	CANNOT_EXECUTE = 126,
	NOT_FOUND_IN_PATH = 127,
};

/* One handoff at work. */
struct job {
	struct cli *cli;
	struct receive_exec *exec;
	const struct json *handoff;
	struct str lease;
	int64_t lease_ms;
	int64_t renewed_ns;	/* when the lease was known to hold */
	bool is_lost;		/* somebody else has it, or will have it */
	int64_t stopped_ns;	/* when the first signal came; 0: none has */
	bool is_over;		/* it was told to end at once, or its grace is over */
};

/* --- Telling the server --- */

static void begin_body(const struct job *job, struct buf *body, struct json_writer *w)
{
	buf_clear(body);
	json_writer_init(w, body);
	json_begin_object(w);
	json_member_str(w, "lease", job->lease);
}

/* One call. A lease that has ended is noted, anything else that fails is told; the code is that of the call. */
static int tell(struct job *job, const char *verb, const struct buf *body, bool is_repeatable, struct ask *ret)
{
	struct client_request request = {
		.method = "POST", .path = settle_path(job->cli->arena, job->lease, verb), .body = buf_str(body),
		.repeatable = is_repeatable,
	};

	if (request.path == NULL) {
		*ret = (struct ask){.exit = CLI_FAILED, .failure = "the answer of the server has no lease in it"};
		return CLI_FAILED;
	}
	ask_make(job->cli, &request, job->cli->arena, ret);
	if (str_is(ret->code, "stale_lease"))
		job->is_lost = true;
	return ret->exit;
}

/* How it ended must arrive: where the server is away it is tried again for as long as the lease may still hold. */
static int tell_end(struct job *job, const char *verb, const struct buf *body, struct ask *ret)
{
	bool is_repeatable = strcmp(verb, "complete") == 0, was_told = false;
	int code;

	for (;;) {
		code = tell(job, verb, body, is_repeatable, ret);
		if (code != CLI_UNREACHABLE || clock_mono_ns() - job->renewed_ns > job->lease_ms * 1000000 ||
		    stop_count(job->exec->stop) > 1)
			return code;
		if (!was_told)
			cli_error(job->cli, "%.*s; trying again", STR_ARG(ask_sentence(job->cli, ret)));
		was_told = true;
		ask_release(ret);
		stop_pause(job->exec->stop, RETRY_PAUSE_MS);
	}
}

static bool accept(struct job *job)
{
	struct json_writer w;
	struct buf body;
	struct ask ask;
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	begin_body(job, &body, &w);
	body_put_seconds(&w, "work_lease_s", job->exec->work_lease_ms);
	json_end_object(&w);
	code = tell(job, "ack", &body, true, &ask);
	if (code != CLI_OK)
		cli_error(job->cli, "%.*s", STR_ARG(ask_sentence(job->cli, &ask)));
	job->renewed_ns = clock_mono_ns();
	job->lease_ms = job->exec->work_lease_ms;
	ask_release(&ask);
	buf_release(&body);
	return code == CLI_OK;
}

/* Where the server cannot be reached the work goes on: it may be back before the lease has ended. After that it would
 * hand the work to somebody else, and two must not do it at the same time. */
static void renew(struct job *job)
{
	struct json_writer w;
	struct buf body;
	struct ask ask;

	buf_init(&body, BODY_MAX_BYTES);
	begin_body(job, &body, &w);
	json_end_object(&w);
	if (tell(job, "progress", &body, true, &ask) == CLI_OK)
		job->renewed_ns = clock_mono_ns();
	else
		cli_error(job->cli, "%.*s", STR_ARG(ask_sentence(job->cli, &ask)));
	if (clock_mono_ns() - job->renewed_ns > job->lease_ms * 1000000)
		job->is_lost = true;
	ask_release(&ask);
	buf_release(&body);
}

/* --- The program --- */

static const char *text_or_null(struct arena *arena, struct str text)
{
	return text.n ? arena_cstr(arena, text) : NULL;
}

static void write_input(const struct job *job, struct buf *input)
{
	struct json_writer w;

	if (job->exec->json_input) {
		json_writer_init(&w, input);
		json_put(&w, job->handoff);
		buf_putc(input, '\n');
	} else {
		buf_put(input, ask_str(job->handoff, "prompt"));
	}
}

/* The task that it belongs to. The flat form of an envelope, for old agents, does not name it. */
static const char *task_of(struct job *job)
{
	struct arena *arena = job->cli->arena;
	const char *envelope = text_or_null(arena, ask_str(job->handoff, "envelope_id")), *task;
	struct ask ask;

	task = text_or_null(arena, ask_str(json_get(json_get(job->handoff, "envelope"), "task"), "id"));
	if (task || envelope == NULL)
		return task;
	ask_make_get(job->cli, ask_path(arena, "/v1/envelopes/", envelope, ""), &ask);
	task = text_or_null(arena, ask_str(json_get(&ask.json, "task"), "id"));
	ask_release(&ask);
	return task;
}

static bool start(struct job *job, struct child *child, struct str input)
{
	const struct json *h = job->handoff;
	struct arena *arena = job->cli->arena;
	/* The program has the key that this one has: a file that was named here takes the place of SPINE_KEY. */
	const struct option_value *key_file = options_value(&job->cli->options, "key-file");
	struct child_variable variables[] = {
		{"SPINE_HANDOFF", text_or_null(arena, ask_str(h, "id"))},
		{"SPINE_ENVELOPE", text_or_null(arena, ask_str(h, "envelope_id"))},
		{"SPINE_LEASE", text_or_null(arena, job->lease)},
		{"SPINE_ATTEMPT", arena_printf(arena, "%lld", (long long)ask_int(h, "attempt", 0)).p},
		{"SPINE_REDELIVERED", ask_bool(h, "redelivered") ? "true" : "false"},
		{"SPINE_FROM", text_or_null(arena, ask_str(h, "from"))},
		{"SPINE_TASK", task_of(job)},
		{"SPINE_URL", client_url(job->cli->client)},
		{"SPINE_SPACE", options_text(&job->cli->options, "space")},
		{"SPINE_AGENT", job->exec->agent},
		{"SPINE_KEY", key_file->source == OPTION_FROM_ARGS ? NULL : getenv("SPINE_KEY")},
		{"SPINE_KEY_FILE", key_file->text},
		{"SPINE_CA_FILE", options_text(&job->cli->options, "ca-file")},
		{"SPINE_CERT_FILE", options_text(&job->cli->options, "cert-file")},
		{"SPINE_CERT_KEY_FILE", options_text(&job->cli->options, "cert-key-file")},
		{NULL, NULL},
	};
	struct buf error;
	bool good;

	buf_init(&error, 4096);
	good = child_start(child, job->exec->argv, variables, input, OUTPUT_MAX_BYTES, &error);
	if (!good)
		cli_error(job->cli, "%s", buf_str(&error).p);
	buf_release(&error);
	return good;
}

/* How long to wait for the program before the next look: until the lease is to be renewed, the grace is over, or it has
 * had its time to end. */
static int64_t next_look_ms(const struct job *job, bool is_ending)
{
	int64_t every_ms = (job->lease_ms < LEASE_MIN_MS ? LEASE_MIN_MS : job->lease_ms) / 3;
	int64_t left_ms = job->exec->grace_ms - (clock_mono_ns() - job->stopped_ns) / 1000000;

	if (is_ending)
		return KILL_AFTER_MS;
	if (job->stopped_ns == 0 || job->exec->grace_ms < 0 || left_ms > every_ms)
		return every_ms;
	return left_ms > 0 ? left_ms : 0;
}

/* Looks after the signals that came: the first begins the grace, the second ends it. */
static void heed_signals(struct job *job)
{
	int signals = stop_count(job->exec->stop);

	if (signals == 1 && job->stopped_ns == 0)
		cli_note(job->cli, "spine: stopping after %.*s; once more ends it now", STR_ARG(job->lease));
	if (signals > 0 && job->stopped_ns == 0)
		job->stopped_ns = clock_mono_ns();
	job->is_over = signals > 1 || (job->stopped_ns && job->exec->grace_ms >= 0 &&
				       clock_mono_ns() - job->stopped_ns >= job->exec->grace_ms * 1000000);
}

/* Until it has ended, with the lease renewed every third of its time. A second signal, the end of the grace, or a lost
 * lease ends it. */
static void work(struct job *job, struct child *child)
{
	bool is_ending = false;

	for (;;) {
		enum child_event event = child_wait(child, next_look_ms(job, is_ending), job->exec->stop->fd);

		heed_signals(job);
		if (event == CHILD_ENDED)
			return;
		if (is_ending && event == CHILD_TIME)
			child_kill(child, SIGKILL);
		else if (event == CHILD_TIME)
			renew(job);
		if (!is_ending && (job->is_over || job->is_lost)) {
			child_kill(child, SIGTERM);
			is_ending = true;
		}
	}
}

/* --- How it ended --- */

static void put_reason(const struct child *child, struct buf *out)
{
	struct str line = str_trim(buf_str(&child->line));

	if (WIFSIGNALED(child->status)) {
		buf_printf(out, "the program was killed by signal %d (%s)", WTERMSIG(child->status),
			   strsignal(WTERMSIG(child->status)));
		return;
	}
	/* What the server takes is text. */
	line.n = str_utf8_prefix(line);
	if (line.n)
		buf_put(out, line);
	else
		buf_printf(out, "the program ended with exit code %d", WEXITSTATUS(child->status));
}

/* Did it end because somebody stopped it, and not by itself? A process manager may stop the program together with this
 * receiver. */
static bool was_stopped(const struct job *job, const struct child *child)
{
	int signal = WIFSIGNALED(child->status)	       ? WTERMSIG(child->status)
		     : WEXITSTATUS(child->status) > 128 ? WEXITSTATUS(child->status) - 128
							: 0;

	return job->is_over || (job->stopped_ns && (signal == SIGTERM || signal == SIGINT));
}

/* What the exit code means, as a verb, with the body to it. */
static const char *judge(struct job *job, const struct child *child, struct buf *body, struct buf *reason)
{
	int exit = WIFEXITED(child->status) ? WEXITSTATUS(child->status) : -1;
	struct json_writer w;

	begin_body(job, body, &w);
	if (exit == 0 && buf_overflowed(&child->output)) {
		buf_printf(reason, "the output is larger than %d bytes; store it as a memory and print its id",
			   OUTPUT_MAX_BYTES);
	} else if (exit == 0 && !settle_put_result(buf_str(&child->output), job->cli->arena, &w)) {
		buf_puts(reason, "the output is not UTF-8 text");
	} else if (exit == 0) {
		json_end_object(&w);
		return "complete";
	} else if (was_stopped(job, child)) {
		buf_puts(reason, "the receiver was stopped");
	} else {
		put_reason(child, reason);
	}
	json_member_str(&w, "reason", buf_str(reason));
	json_end_object(&w);
	job->exec->is_broken = exit == CANNOT_EXECUTE || exit == NOT_FOUND_IN_PATH;
	/* It was ended from outside: that is no attempt that failed. */
	if (exit != 0 && was_stopped(job, child))
		return "release";
	/* A program whose output cannot be taken would do the same again. */
	return exit == 0 || exit == RECEIVE_EXIT_REJECT ? "reject" : "nack";
}

static void report(const struct job *job, const char *verb, const struct buf *reason, int64_t began_ns,
		   const struct ask *ask)
{
	const char *done = strcmp(verb, "complete") == 0  ? "completed"
			   : strcmp(verb, "reject") == 0  ? "rejected"
			   : strcmp(verb, "release") == 0 ? "given back"
							  : "nacked";
	double seconds = (double)(clock_mono_ns() - began_ns) / 1e9;
	struct str id = str_sub(job->lease, 0, str_find(job->lease, '.'));

	if (cli_is_json(job->cli))
		cli_write_json(job->cli, buf_str(&ask->reply.body));
	if (reason->len)
		cli_note(job->cli, "%.*s %s after %.1f s: %s", STR_ARG(job->lease), done, seconds, buf_str(reason).p);
	else
		cli_note(job->cli, "%.*s %s after %.1f s; its result: spine get %.*s", STR_ARG(job->lease), done,
			 seconds, STR_ARG(id));
}

static int settle(struct job *job, const struct child *child, int64_t began_ns)
{
	struct buf body, reason;
	const char *verb;
	struct ask ask;
	int code;

	if (job->is_lost) {
		cli_error(job->cli, "%.*s: the lease was lost, the work goes to somebody else, and the program was "
				    "ended",
			  STR_ARG(job->lease));
		return CLI_CONFLICT;
	}
	buf_init(&body, BODY_MAX_BYTES);
	buf_init(&reason, REASON_MAX_BYTES);
	verb = judge(job, child, &body, &reason);
	code = tell_end(job, verb, &body, &ask);
	if (code != CLI_OK)
		cli_error(job->cli, "%.*s: %.*s", STR_ARG(job->lease), STR_ARG(ask_sentence(job->cli, &ask)));
	else
		report(job, verb, &reason, began_ns, &ask);
	if (code == CLI_OK && strcmp(verb, "complete") != 0)
		code = CLI_FAILED;
	ask_release(&ask);
	buf_release(&body);
	buf_release(&reason);
	return code;
}

/* An envelope that cannot be read is nothing that a program could work on. */
static int refuse_damaged(struct job *job, struct str problem)
{
	struct json_writer w;
	struct buf body;
	struct ask ask;

	buf_init(&body, BODY_MAX_BYTES);
	begin_body(job, &body, &w);
	json_member_str(&w, "reason", problem);
	json_end_object(&w);
	cli_error(job->cli, "%.*s: %.*s", STR_ARG(job->lease), STR_ARG(problem));
	if (tell_end(job, "reject", &body, &ask) != CLI_OK)
		cli_error(job->cli, "%.*s", STR_ARG(ask_sentence(job->cli, &ask)));
	ask_release(&ask);
	buf_release(&body);
	return CLI_DAMAGED;
}

static int64_t lease_time_ms(const struct json *handoff)
{
	int64_t end_ms;

	if (!rfc3339_parse(ask_str(handoff, "lease_expires_at"), &end_ms) || end_ms <= clock_wall_ms())
		return LEASE_MIN_MS;
	return end_ms - clock_wall_ms();
}

int receive_exec_run(struct cli *cli, struct receive_exec *exec, const struct json *handoff)
{
	struct job job = {
		.cli = cli, .exec = exec, .handoff = handoff, .lease = ask_str(handoff, "lease"),
		.lease_ms = lease_time_ms(handoff), .renewed_ns = clock_mono_ns(),
	};
	int64_t began_ns = clock_mono_ns();
	struct child child;
	struct buf input;
	int code = CLI_FAILED;

	if (ask_str(handoff, "problem").n)
		return refuse_damaged(&job, ask_str(handoff, "problem"));
	cli_note(cli, "%.*s from %.*s: %.*s, attempt %lld of %lld", STR_ARG(job.lease),
		 STR_ARG(ask_str(handoff, "from")),
		 STR_ARG(ask_str(handoff, "envelope_id")), (long long)ask_int(handoff, "attempt", 0),
		 (long long)ask_int(handoff, "max_attempts", 0));
	if (exec->ack_first && !accept(&job))
		return CLI_FAILED;
	buf_init(&input, INPUT_MAX_BYTES);
	write_input(&job, &input);
	if (start(&job, &child, buf_str(&input))) {
		work(&job, &child);
		code = settle(&job, &child, began_ns);
		child_release(&child);
	} else {
		exec->is_broken = true;
	}
	buf_release(&input);
	return code;
}

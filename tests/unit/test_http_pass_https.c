/* net/http_pass.h: HTTPS between servers, and questions of a server's own. */
#include "http/passing.h"

/* --- Questions ------------------------------------------------------------------------------------ */

static void on_answer(void *ctx, const struct http_answer *answer)
{
	struct world *w = ctx;

	pthread_mutex_lock(&w->front.lock);
	w->answer_status = answer->status;
	snprintf(w->answer, sizeof(w->answer), "%.*s", answer->failure ? 200 : (int)answer->body.n,
		 answer->failure ? answer->failure : answer->body.p);
	pthread_mutex_unlock(&w->front.lock);
	fixture_add(&w->front, &w->asked);
}

static void ask_now(void *arg)
{
	static const struct http_header headers[] = {{"X-One", {"7", 1}}, {0}};
	struct world *w = arg;

	http_ask(w->pass[0], w->url, headers, 300, 200, on_answer, w);
}

static void ask_front(struct world *w, const char *path, int status, const char *answer)
{
	int count = w->asked;
	char base[64];

	snprintf(base, sizeof(base), "%s", w->url);
	strcat(w->url, path);
	http_post(w->front.server, 0, ask_now, w);
	fixture_await(&w->front, &w->asked, count + 1);
	memcpy(w->url, base, sizeof(base));
	assert_int_equal(w->answer_status, status);
	if (!strstr(w->answer, answer))
		fail_msg("%s is not in \"%s\"", answer, w->answer);
}

static void test_questions_of_its_own(void **state)
{
	struct world *w = *state;

	ask_front(w, "/x?y", 200, "GET|/x|y\n");
	ask_front(w, "/x", 200, "x-one=7\n");
	ask_front(w, "/status?404", 404, "status");
	ask_front(w, "/size?201", 0, "more than this server takes");
	ask_front(w, "/hold", 0, "no answer in time");
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:1");
	ask_front(w, "/", 0, "cannot connect");
	snprintf(w->url, sizeof(w->url), "nonsense");
	ask_front(w, "://", 0, "");
}

/* --- HTTPS ---------------------------------------------------------------------------------------- */

struct authority {
	char folder[64];
	char ca[96], cert[96], key[96];
};

static void authority_make(struct authority *a)
{
	static const char script[] =
		"cd %s && exec 2>&1 && umask 077 && "
		"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -subj /CN=ca "
		"-addext basicConstraints=critical,CA:TRUE -out ca.pem && "
		"openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout node.key -subj /CN=node "
		"-out node.csr && echo subjectAltName=IP:127.0.0.1 > names && "
		"openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names "
		"-out node.pem";
	char command[sizeof(script) + 64], line[256];
	FILE *out;

	snprintf(a->folder, sizeof(a->folder), "/tmp/http_pass.XXXXXX");
	assert_non_null(mkdtemp(a->folder));
	snprintf(command, sizeof(command), script, a->folder);
	out = popen(command, "r");
	while (fgets(line, sizeof(line), out))
		continue;
	assert_int_equal(pclose(out), 0);
	snprintf(a->ca, sizeof(a->ca), "%s/ca.pem", a->folder);
	snprintf(a->cert, sizeof(a->cert), "%s/node.pem", a->folder);
	snprintf(a->key, sizeof(a->key), "%s/node.key", a->folder);
}

static void authority_remove(const struct authority *a)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", a->folder);
	assert_int_equal(system(command), 0);
}

static void bodies_over_tls(struct world *w)
{
	static const size_t sizes[] = {0, 4096, HTTP_PASS_WHOLE_BYTES + 1, LARGE};
	char *bytes = pattern(LARGE);
	int fd = client_open(&w->front);
	struct reply r;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ask(fd, "POST", "/echo", "", (struct str){bytes, sizes[i]});
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 200);
		assert_int_equal(r.body_len, sizes[i]);
		assert_memory_equal(r.body, bytes, sizes[i]);
		reply_release(&r);
	}
	ask(fd, "GET", "/hold", "", STR(""));
	fixture_await(&w->back, &w->back.held_count, 1);
	close(fd);
	fixture_await(&w->back, &w->back.gone_count, 1);
	free(bytes);
}

/* trusts: the other server's authority. shows: a certificate of its own. */
static void over_tls(const struct authority *a, bool trusts, bool shows, void (*check)(struct world *w))
{
	struct tls_files files = {.cert = a->cert, .key = a->key, .client_ca = a->ca, .client_required = true};
	struct buf error;
	struct world *w;
	void *state;

	make(&state);
	w = state;
	buf_init(&error, 1000);
	w->back.config.tls = tls_new(&files, &error);
	assert_non_null(w->back.config.tls);
	w->files.ca = trusts ? a->ca : NULL;
	w->files.cert = shows ? a->cert : NULL;
	w->files.key = shows ? a->key : NULL;
	fixture_start(&w->back);
	fixture_start(&w->front);
	snprintf(w->url, sizeof(w->url), "https://127.0.0.1:%d", http_server_port(w->back.server));
	check(w);
	fixture_stop(&w->front, PATIENCE_MS);
	fixture_stop(&w->back, PATIENCE_MS);
	tls_free(w->back.config.tls);
	buf_release(&error);
	free(w);
}

static void not_trusted(struct world *w)
{
	int fd = client_open(&w->front);

	ask(fd, "POST", "/echo", "", STR("x"));
	expect_failure(w, fd, "not run", "certificate is not trusted");
	assert_int_equal(fixture_counts(&w->back).requests, 0);
	close(fd);
}

/* With TLS 1.3 the request is sent before the other server has said what it thinks of the certificate. */
static void not_known(struct world *w)
{
	int fd = client_open(&w->front);

	ask(fd, "POST", "/echo", "", STR("x"));
	assert_int_equal(client_status(fd), 503);
	assert_int_equal(fixture_counts(&w->back).requests, 0);
	close(fd);
}

static void test_https_with_certificates_on_both_sides(void **state)
{
	struct authority a;

	(void)state;
	authority_make(&a);
	over_tls(&a, true, true, bodies_over_tls);
	over_tls(&a, false, true, not_trusted);
	over_tls(&a, true, false, not_known);
	authority_remove(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ONE(test_questions_of_its_own),
		cmocka_unit_test(test_https_with_certificates_on_both_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A small program around net/http.h, for load and memory measurements and for tests from outside.
 *
 *     echo_server THREADS      prints its port, runs until SIGTERM or SIGINT, then prints the CPU time per request
 *
 * /wait holds the request until its client goes or the server drains; /stream sends a hundred chunks; /drop answers
 * with no body; everything else gets its own body back.
 */
#include "net/http.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void on_end_of_wait(struct http_req *req, void *arg)
{
	(void)arg;
	http_reply(req, 200, NULL, NULL, NULL);
}

static void on_request(void *ctx, struct http_req *req)
{
	struct str path = http_req_path(req);
	struct buf body;

	(void)ctx;
	if (str_is(path, "/wait")) {
		http_req_on_gone(req, on_end_of_wait, NULL);
		http_req_set_timer(req, 600000, on_end_of_wait, NULL);
		return;
	}
	if (str_is(path, "/drop")) {
		http_reply(req, 200, NULL, NULL, NULL);
		return;
	}
	if (str_is(path, "/stream")) {
		http_stream_begin(req, 200, "text/plain", NULL);
		for (int i = 0; i < 100; i++)
			http_stream_write(req, STR("a line\n"));
		http_stream_end(req);
		return;
	}
	buf_init(&body, 64 << 20);
	buf_put(&body, http_req_body(req));
	http_reply(req, 200, "application/json", NULL, &body);
}

int main(int argc, char **argv)
{
	struct http_config config = {
		.limits = {
			.max_connections = 19000, .max_header_bytes = 16384, .max_headers = 64, .max_uri_bytes = 8192,
			.max_body_bytes = 16 << 20, .max_body_total_bytes = 256 << 20,
			.max_reply_total_bytes = 256 << 20, .header_timeout_ms = 10000,
			.body_timeout_ms = 30000, .idle_timeout_ms = 60000, .write_timeout_ms = 30000,
		},
		.threads = argc > 1 ? atoi(argv[1]) : 1,
		.on_request = on_request,
	};
	struct http_server *server;
	struct http_counts counts;
	struct rusage usage;
	char error[256];
	sigset_t signals;
	double cpu_us;
	int received;

	server = http_server_new(&config, "127.0.0.1", 0, error, sizeof(error));
	if (server == NULL) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	http_server_start(server);
	printf("%d\n", http_server_port(server));
	fflush(stdout);
	sigwait(&signals, &received);
	http_server_counts(server, &counts);
	getrusage(RUSAGE_SELF, &usage);
	http_server_stop(server, 2000);
	http_server_free(server);
	cpu_us = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
		 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	printf("requests %llu, %.2f us of CPU each\n", (unsigned long long)counts.requests,
	       counts.requests ? cpu_us / (double)counts.requests : 0.0);
	return 0;
}

/* Being asked to stop: SIGINT and SIGTERM, taken as something to be read instead of an interruption. One at a time. */
#ifndef SPINE_CLI_STOP_H
#define SPINE_CLI_STOP_H

#include <stdbool.h>
#include <stdint.h>

struct stop {
	int fd;			/* readable when a signal has come */
	int count;		/* of signals so far */
};

struct cli;

/* From here on the two signals no longer end the process. False, having said why, where the system does not have it. */
bool stop_init(struct stop *s, const struct cli *cli);
/* Gives the signals their usual effect again. */
void stop_release(struct stop *s);
/* The same in a new process, which has its own descriptors and shares the handlers. */
void stop_forget(void);
/* Takes the signals that have come, and returns how many there were in all. */
int stop_count(struct stop *s);
/* The same as a yes or no, for client_request.is_stopped. */
bool stop_is_asked(void *stop);
/* Waits so long, or until a signal comes. */
void stop_pause(struct stop *s, int64_t ms);
/* The same, twice as long each time, up to five seconds; *pause_ms is 0 before the first. */
void stop_pause_longer(struct stop *s, int64_t *pause_ms);

#endif

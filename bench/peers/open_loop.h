/* Messages that are sent when they are due, whether or not the server keeps up. */
#ifndef SPINE_BENCH_PEERS_OPEN_LOOP_H
#define SPINE_BENCH_PEERS_OPEN_LOOP_H

#include "peer.h"

struct open_loop_config {
	const struct peer *peer;
	uint16_t port;
	double rate;		/* messages a second */
	double seconds;
	double warmup_s;	/* before them, at the same rate; not counted */
	uint64_t senders;
	uint64_t receivers;
	size_t bytes;		/* of a message */
};

/* Prints one line of JSON. Returns the exit code: 1 where messages were lost. */
int open_loop(const struct open_loop_config *config);

#endif

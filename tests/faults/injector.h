/* Lets a call of the C library fail: the n-th of its kind, once or from then on, in this process.
 *
 * The program's own functions stand before those of the C library, as in tests/power/recorder.h. Only files below a
 * directory are touched, and memory.
 */
#ifndef SPINE_TESTS_FAULTS_INJECTOR_H
#define SPINE_TESTS_FAULTS_INJECTOR_H

#include <stdbool.h>
#include <stdint.h>

enum call_kind {
	CALL_WRITE,
	CALL_READ,
	CALL_SYNC,
	CALL_TRUNCATE,
	CALL_OPEN,
	CALL_NAME,	/* rename, link, unlink, mkdir */
	CALL_MEMORY,	/* malloc, calloc, realloc */
	CALL_KINDS,
};

struct injection {
	enum call_kind kind;
	int error;		/* errno; 0: half of the bytes are written or read, and that is said */
	uint64_t at;		/* the call that fails, from 1; 0: none */
	bool stays;
};

/* From here on. */
void injector_arm(const struct injection *i, const char *root);
void injector_disarm(void);
/* Nothing is counted, and nothing fails, while it is set: for those who look on. */
void injector_pause(bool is_paused);
/* How many calls of that kind there were since it was armed. */
uint64_t injector_calls(void);
uint64_t injector_hits(void);

#endif

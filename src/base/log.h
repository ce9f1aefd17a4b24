/* Structured log lines: text for a person on a terminal, one JSON object a line otherwise.
 *
 *     log_write(log, LOG_INFO, "listening", LOG_STR("address", addr), LOG_INT("port", port));
 *
 * A line is one write(2), so that lines of several threads do not mix. Library code does not log;
 * the edge does, once.
 */
#ifndef SPINE_BASE_LOG_H
#define SPINE_BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

enum log_format { LOG_AUTO, LOG_TEXT, LOG_JSON };

struct log_field {
	const char *key;	/* NULL: there are no more */
	struct str text;	/* used where is_number is false */
	int64_t number;
	bool is_number;
};

struct log {
	int fd;
	enum log_level level;	/* lines below it are not written */
	bool json;
	bool color;
};

/* format LOG_AUTO: text where fd is a terminal, JSON otherwise. */
void log_init(struct log *log, int fd, enum log_level level, enum log_format format);

#define LOG_STR(k, v) ((struct log_field){.key = (k), .text = str_of(v)})
#define LOG_SLICE(k, v) ((struct log_field){.key = (k), .text = (v)})
#define LOG_INT(k, v) ((struct log_field){.key = (k), .number = (int64_t)(v), .is_number = true})

/* Of one line. The longest has 8; the compiler warns of one that has more than these. */
enum { LOG_FIELDS_MAX = 12 };

/* log may be NULL: nothing is written then. */
#define log_write(log, level, message, ...) \
	log_fields(log, level, message, (const struct log_field[LOG_FIELDS_MAX]){__VA_ARGS__})

void log_fields(const struct log *log, enum log_level level, const char *message,
		const struct log_field fields[LOG_FIELDS_MAX]);

/* "debug", "info", "warn", "error"; false where name is none of them. */
bool log_level_parse(struct str name, enum log_level *ret);

#endif

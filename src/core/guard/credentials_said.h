/* What the parts of the reader of sentences share: credentials_said.c finds the name and the link,
 * credentials_said_value.c judges the value. */
#ifndef SPINE_CORE_CREDENTIALS_SAID_H
#define SPINE_CORE_CREDENTIALS_SAID_H

#include "core/guard/credentials_internal.h"

struct said {
	size_t name_at, name_end;
	enum credentials_name sort;
	bool is_pair;		/* "user/pass", "credentials", "login": a name and a password */
	bool is_pass;		/* "pass", also what a compiler makes, and what a test says */
	bool about;		/* words about the name stand between */
	bool linked, joined;
	char sign;		/* the link was = or :, which code has, too; or 0 */
};

static inline bool credentials_said_hit(const struct credentials_scan *s, size_t at, size_t end, const char *kind,
					struct credential *ret)
{
	if (at < s->from || end <= at)
		return false;
	*ret = (struct credential){at, end - at, kind};
	return true;
}

/* A sentence goes on or ends at end; an expression does not. sign is the link's, see struct said. */
bool credentials_said_ends(struct str text, size_t end, char sign);
/* root / …, root:… at at: the value behind a name of a person. */
bool credentials_said_pair(const struct credentials_scan *s, size_t at, struct credential *ret);
/* Is what stands at at the secret that was said? */
bool credentials_said_judge(const struct credentials_scan *s, const struct said *said, size_t at,
			    struct credential *ret);

#endif

/* What a space has decided about everything in it. A row that was damaged, or changed by somebody beside the server,
 * may say what nobody can have set: it is not guessed at, least of all as "no limit". (A guard that is none is the
 * strictest: redact_policy_kept.)
 *
 * Each check is P_STORE_DAMAGED with what to set again. */
#ifndef SPINE_CORE_SPACE_POLICY_H
#define SPINE_CORE_SPACE_POLICY_H

#include "core/problem.h"
#include "store/store.h"

/* The least trust that goes to who has not asked for it; of what cannot be read the strictest. TRUST_EXTERNAL where
 * there is no space (0, too): nothing is below it. */
enum problem_code space_policy_floor(struct store_conn *c, int64_t space, struct arena *arena, enum trust *ret,
				     struct problem *problem);
enum problem_code space_policy_check_floor(const struct space_row *row, struct problem *problem);
enum problem_code space_policy_check_quota(const struct space_row *row, struct problem *problem);
/* Both. */
enum problem_code space_policy_check(const struct space_row *row, struct problem *problem);
/* What it locks, as it is stored: can that be read? */
bool space_policy_locked_is_sound(struct str locked);

#endif

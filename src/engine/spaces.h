/* The numbers of the spaces, remembered. A number is never given again, and one that was removed is not remembered any
 * more, so what is remembered stays true. Any thread. */
#ifndef SPINE_ENGINE_SPACES_H
#define SPINE_ENGINE_SPACES_H

#include "base/str.h"
#include "store/store.h"

struct spaces;

enum { SPACE_NAME_MAX = 64 };

/* 1 to 64 characters of a-z, 0-9, '_', '-', the first one a letter or digit. */
bool space_name_is_valid(struct str name);

struct spaces *spaces_new(void);
void spaces_free(struct spaces *s);
/* The number of a space, from memory or from the store; STORE_NOT_FOUND where it does not exist. */
enum store_status spaces_find(struct spaces *s, struct store_conn *c, struct str name, int64_t *ret_id);
/* To be called after the commit that made the space. */
void spaces_remember(struct spaces *s, struct str name, int64_t id);
/* To be called after the commit that removed it. From then on nobody remembers it, also who has read it before. */
void spaces_forget(struct spaces *s, struct str name, int64_t id);
/* It was removed since the start. */
bool spaces_is_gone(struct spaces *s, int64_t id);

#endif

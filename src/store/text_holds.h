/* Does a text hold another? What both engines share, so that there is one rule. */
#ifndef SPINE_STORE_TEXT_HOLDS_H
#define SPINE_STORE_TEXT_HOLDS_H

#include "base/str.h"

/* Whatever the case of ASCII letters. An empty part is in every text; in a text that is NULL there is nothing. */
bool text_holds(struct str text, struct str part);

#endif

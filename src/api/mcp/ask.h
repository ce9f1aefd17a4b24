/* Asking the client: its user by a form, its model, its roots.
 *
 * Since 2026-07-28 the answer to the message is what is asked, and the client sends the message again with what it has
 * got (inputResponses, requestState). Before, the message is answered as a stream that carries requests of the server,
 * and the client posts responses to them. Either way the method is called again from its start, and finds the answers.
 */
#ifndef SPINE_API_MCP_ASK_H
#define SPINE_API_MCP_ASK_H

#include "api/mcp/mcp_call.h"

struct asking;

struct asking *ask_new(void);
void ask_free(struct asking *a);

/* What the message brings along. False: it was answered with an error. */
bool ask_read(struct mcp_call *m);
/* What the client has answered: an object, or NULL. */
const struct json *ask_input(const struct mcp_call *m, const char *key);

/* Asks one thing or several. params is JSON; a state comes back as m->state. The message is the client's turn then. */
void ask_begin(struct mcp_call *m);
void ask_add(struct mcp_call *m, const char *key, const char *method, struct str params);
void ask_end(struct mcp_call *m, struct str state);

/* A response that the client has posted, in m->message. */
void ask_answered(struct mcp_call *m);

#endif

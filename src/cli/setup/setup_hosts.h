/* The hosts that `spine setup` knows: which file each reads, and what stands in it. docs/decisions.md has where that is
 * documented. */
#ifndef SPINE_CLI_SETUP_HOSTS_H
#define SPINE_CLI_SETUP_HOSTS_H

#include "cli/setup/setup_file.h"
#include "cli/cli.h"

#define SETUP_SERVER "memory-spine"	/* what the server is called there */

struct setup_wish {
	bool is_user;			/* for all projects of the person, and not only the one here */
	bool is_stdio;			/* the host starts `spine mcp`, instead of connecting to the URL */
	bool is_undone;
	bool has_hooks;
	const char *url;		/* "http://127.0.0.1:8788" */
	bool is_url_given;
	const char *agent, *space;	/* NULL: not said */
	const char *token_env;		/* the variable with the key, for hosts that connect themselves; NULL: none */
	const char *key_file, *ca_file;	/* for `spine mcp` and `spine wait`, whole paths; NULL: not said */
	const char *cert_file, *cert_key_file;
	const char *program;		/* this one: a name that is found by PATH, or a path */
	const char *program_path;
};

enum { SETUP_FILES_MAX = 2 };

struct setup_host {
	const char *name;
	const char *title;
	bool is_user_by_default;
	const char *next;		/* what to do afterwards, a sentence */
	/* The file, in the arena; NULL where it has none of that kind. */
	const char *(*file)(struct arena *arena, bool is_user);
	/* Changes what was read of the file. False where it has a form that cannot be changed with care. */
	bool (*change)(struct arena *arena, const struct setup_wish *wish, struct buf *text);
	/* The same for hooks, which stand in another file; NULL: it has none that wake an agent. */
	const char *(*hook_file)(struct arena *arena, bool is_user);
	bool (*change_hook)(struct arena *arena, const struct setup_wish *wish, struct buf *text);
};

extern const struct setup_host setup_hosts[];	/* ended by one without a name */

#endif

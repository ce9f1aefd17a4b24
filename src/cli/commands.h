/* The commands there are. A new one is named here, and in a list of commands.c. */
#ifndef SPINE_CLI_COMMANDS_H
#define SPINE_CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct command cmd_ack, cmd_agent, cmd_agents, cmd_alerts, cmd_audit, cmd_backup, cmd_bench,
	cmd_blame, cmd_cancel, cmd_channels, cmd_check, cmd_complete, cmd_completion, cmd_demo, cmd_diff,
	cmd_doctor, cmd_envelope, cmd_export, cmd_fidelity, cmd_forget, cmd_get, cmd_handoffs, cmd_key, cmd_help,
	cmd_cluster, cmd_import, cmd_list, cmd_mcp, cmd_migrate, cmd_move, cmd_nack, cmd_need, cmd_pack, cmd_park,
	cmd_parked, cmd_pin,
	cmd_progress, cmd_purge, cmd_quarantine, cmd_queues, cmd_recall, cmd_receipts,
	cmd_receive, cmd_reject, cmd_release, cmd_resolve,
	cmd_restore, cmd_revert, cmd_routes, cmd_search, cmd_send, cmd_serve, cmd_setup, cmd_space, cmd_spaces,
	cmd_status, cmd_store, cmd_tail,
	cmd_task, cmd_tasks, cmd_tokens, cmd_top, cmd_trace, cmd_unpin, cmd_update, cmd_verify, cmd_version,
	cmd_versions, cmd_wait, cmd_waive;

/* What belongs together in the help. */
struct command_group {
	const char *title;			/* NULL ends the list */
	const struct command *const *commands;	/* ended by NULL */
};

extern const struct command_group command_groups[];

/* NULL where there is none of that name. */
const struct command *command_find(struct str name);
/* Calls fn with every command, in the order of the help. */
void command_each(void (*fn)(const struct command *command, void *arg), void *arg);
/* The tables of a command with the one that all have, ended by NULL. Lives in the arena. */
const struct option_table *const *command_tables(const struct command *command, struct arena *arena);
/* Every table of every command, each once, ended by NULL. */
const struct option_table *const *command_all_tables(struct arena *arena);

#endif

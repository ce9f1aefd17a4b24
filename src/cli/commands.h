/* The commands there are. Adding one: its file, a line here, a line in commands.c. */
#ifndef SPINE_CLI_COMMANDS_H
#define SPINE_CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct command cmd_ack;
extern const struct command cmd_agent;
extern const struct command cmd_agents;
extern const struct command cmd_alerts;
extern const struct command cmd_audit;
extern const struct command cmd_backup;
extern const struct command cmd_blame;
extern const struct command cmd_channels;
extern const struct command cmd_check;
extern const struct command cmd_complete;
extern const struct command cmd_completion;
extern const struct command cmd_demo;
extern const struct command cmd_diff;
extern const struct command cmd_envelope;
extern const struct command cmd_export;
extern const struct command cmd_fidelity;
extern const struct command cmd_forget;
extern const struct command cmd_get;
extern const struct command cmd_handoff;
extern const struct command cmd_handoffs;
extern const struct command cmd_help;
extern const struct command cmd_import;
extern const struct command cmd_list;
extern const struct command cmd_nack;
extern const struct command cmd_need;
extern const struct command cmd_park;
extern const struct command cmd_parked;
extern const struct command cmd_pin;
extern const struct command cmd_progress;
extern const struct command cmd_recall;
extern const struct command cmd_receipts;
extern const struct command cmd_receive;
extern const struct command cmd_reject;
extern const struct command cmd_resolve;
extern const struct command cmd_restore;
extern const struct command cmd_revert;
extern const struct command cmd_routes;
extern const struct command cmd_search;
extern const struct command cmd_send;
extern const struct command cmd_serve;
extern const struct command cmd_space;
extern const struct command cmd_spaces;
extern const struct command cmd_status;
extern const struct command cmd_store;
extern const struct command cmd_tail;
extern const struct command cmd_task;
extern const struct command cmd_tasks;
extern const struct command cmd_tokens;
extern const struct command cmd_top;
extern const struct command cmd_trace;
extern const struct command cmd_unpin;
extern const struct command cmd_update;
extern const struct command cmd_verify;
extern const struct command cmd_version;
extern const struct command cmd_versions;

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

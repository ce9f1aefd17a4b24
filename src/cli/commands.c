#include "cli/commands.h"

#include "cli/shared_options.h"

#include <assert.h>

static const struct command *const memory_commands[] = {
	&cmd_store, &cmd_search, &cmd_list, &cmd_get, &cmd_update, &cmd_versions, &cmd_revert, &cmd_pin, &cmd_unpin,
	&cmd_forget, &cmd_quarantine, &cmd_purge, NULL,
};

static const struct command *const envelope_commands[] = {
	&cmd_pack, &cmd_recall, &cmd_envelope, &cmd_resolve, &cmd_receipts, &cmd_verify, &cmd_tasks, &cmd_task,
	&cmd_fidelity, &cmd_diff, &cmd_blame, &cmd_waive, &cmd_agents, &cmd_agent, NULL,
};

static const struct command *const delivery_commands[] = {
	&cmd_send, &cmd_receive, &cmd_wait, &cmd_ack, &cmd_progress, &cmd_need, &cmd_complete, &cmd_nack, &cmd_release,
	&cmd_reject,
	&cmd_handoffs, &cmd_queues, &cmd_trace, &cmd_cancel, &cmd_move, &cmd_parked, &cmd_park, &cmd_channels,
	&cmd_routes, NULL,
};

static const struct command *const server_commands[] = {
	&cmd_serve, &cmd_demo, &cmd_status, &cmd_doctor, &cmd_top, &cmd_alerts, &cmd_tail, &cmd_audit, &cmd_spaces,
	&cmd_space, &cmd_key, &cmd_cluster, &cmd_bench, &cmd_mcp, &cmd_setup, NULL,
};

static const struct command *const data_commands[] = {
	&cmd_export, &cmd_import, &cmd_backup, &cmd_restore, &cmd_check, &cmd_migrate, NULL,
};

static const struct command *const other_commands[] = {
	&cmd_tokens, &cmd_completion, &cmd_help, &cmd_version, NULL,
};

const struct command_group command_groups[] = {
	{"The server", server_commands},
	{"Memories", memory_commands},
	{"Handoffs", envelope_commands},
	{"Delivery", delivery_commands},
	{"Keeping them safe", data_commands},
	{"Other", other_commands},
	{NULL, NULL},
};

void command_each(void (*fn)(const struct command *command, void *arg), void *arg)
{
	for (const struct command_group *g = command_groups; g->title; g++)
		for (const struct command *const *c = g->commands; *c; c++)
			fn(*c, arg);
}

const struct command *command_find(struct str name)
{
	for (const struct command_group *g = command_groups; g->title; g++)
		for (const struct command *const *c = g->commands; *c; c++)
			if (str_is(name, (*c)->name) || ((*c)->alias && str_is(name, (*c)->alias)))
				return *c;
	return NULL;
}

const struct option_table *const *command_tables(const struct command *command, struct arena *arena)
{
	const struct option_table **tables = arena_calloc(arena, COMMAND_TABLES_MAX + 1, sizeof(*tables));
	size_t count = 0;

	while (command->tables[count]) {
		assert(count < COMMAND_TABLES_MAX - 1);
		tables[count] = command->tables[count];
		count++;
	}
	tables[count] = &common_table;
	return tables;
}

const struct option_table *const *command_all_tables(struct arena *arena)
{
	enum { ALL_TABLES_MAX = 128 };
	const struct option_table **all = arena_calloc(arena, ALL_TABLES_MAX + 1, sizeof(*all));
	size_t count = 0;

	for (const struct command_group *g = command_groups; g->title; g++)
		for (const struct command *const *c = g->commands; *c; c++)
			for (const struct option_table *const *t = command_tables(*c, arena); *t; t++) {
				size_t i = 0;

				while (i < count && all[i] != *t)
					i++;
				if (i < count)
					continue;
				assert(count < ALL_TABLES_MAX);
				all[count++] = *t;
			}
	return all;
}

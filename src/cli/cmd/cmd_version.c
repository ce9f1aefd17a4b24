/* spine version: which version of the program this is. */
#include "cli/commands.h"
#include "cli/shared_options.h"

static int exec_version(struct cli *cli)
{
	if (cli_is_json(cli))
		cli_write_json(cli, STR("{\"version\":\"" SPINE_VERSION "\"}"));
	else
		cli_write(STR("spine " SPINE_VERSION "\n"));
	return CLI_OK;
}

const struct command cmd_version = {
	.name = "version",
	.summary = "Prints the version of this program",
	.usage = "",
	.examples = {"spine version"},
	.tables = {&json_table},
	.exec = exec_version,
};

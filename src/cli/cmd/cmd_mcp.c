/* spine mcp: MCP on standard input and output. */
#include "cli/commands.h"
#include "cli/mcp/mcp_proxy.h"
#include "cli/shared_options.h"

#include <unistd.h>

static int exec_mcp(struct cli *cli)
{
	/* The address and the names are looked at before a message comes. */
	cli->timeout_ms = 1;
	if (cli_client(cli) == NULL)
		return CLI_USAGE;
	if (isatty(STDIN_FILENO))
		cli_note(cli, "spine mcp: reading messages of MCP from the terminal, one a line; Ctrl-D ends it. Hosts "
			 "start this program themselves: spine help setup");
	return mcp_proxy_run(cli);
}

const struct command cmd_mcp = {
	.name = "mcp",
	.summary = "Speaks MCP on standard input and output, for hosts that start a program",
	.usage = "",
	.about = "A proxy to the running server: each message is passed on to /mcp, and what comes back is printed, a "
		 "message a line. It opens no store. Hosts that connect to a URL do without it; over it "
		 "handoff_receive waits up to 110 s instead of 50. spine setup writes either form.\n\n"
		 "Where no server runs at the address, and it is one of this machine, one is started in the background "
		 "with the usual data directory, and standard error says so. It goes on running. A server that is "
		 "restarted is waited for, and subscriptions go on.\n\n"
		 "The end of standard input ends it.",
	.examples = {
		"echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | spine mcp --agent coder",
	},
	.tables = {&where_table},
	.exec = exec_mcp,
};

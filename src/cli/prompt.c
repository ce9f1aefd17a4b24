#include "cli/prompt.h"

#include "cli/ask.h"
#include "cli/show/show.h"

/* The prompt is taken from the version 1 rendering, whose `context` it is: an answer that is JSON can be told from the
 * page of some other server, and a Markdown text cannot. */
int prompt_print(struct cli *cli, const char *envelope_id)
{
	struct ask ask;
	int code = ask_run_get(cli, ask_path(cli->arena, "/v1/envelopes/", envelope_id, "?format=v1"), &ask);

	if (code == CLI_OK) {
		struct str prompt = ask_str(&ask.json, "context");

		if (prompt.p) {
			show_text(cli, prompt);
		} else {
			cli_error(cli, "the answer of %s has no prompt in it", client_url(cli->client));
			code = CLI_FAILED;
		}
	}
	ask_release(&ask);
	return code;
}

#include "cli/subcommand.h"

#include "base/nearest.h"

static bool takes(const struct subcommand *sub, const char *option)
{
	for (const char *const *o = sub->options; *o; o++)
		if (strcmp(*o, option) == 0)
			return true;
	return false;
}

/* An option that would be ignored is one that somebody believes to have an effect. */
static int check_options(const struct cli *cli, const struct subcommand *sub)
{
	const struct option_table *own = cli->command->tables[0];

	for (size_t i = 0; i < own->count; i++)
		if (options_is_given(&cli->options, own->options[i].name) && !takes(sub, own->options[i].name))
			return cli_usage(cli, "%s %s has no option --%s", cli->command->name, sub->name,
					 own->options[i].name);
	return CLI_OK;
}

static int refuse(const struct cli *cli, const struct subcommand *list)
{
	const char *name = cli->options.args[0];
	struct nearest near;
	struct buf names;
	int code;

	nearest_init(&near, str_of(name));
	for (const struct subcommand *s = list; s->name; s++)
		nearest_offer(&near, s->name);
	if (near.best)
		return cli_usage(cli, "unknown \"%s %.80s\"; did you mean \"%s\"?", cli->command->name, name,
				 near.best);
	buf_init(&names, 1024);
	for (const struct subcommand *s = list; s->name; s++)
		buf_printf(&names, "%s%s", s == list ? "" : s[1].name ? ", " : " or ", s->name);
	code = cli_usage(cli, "unknown \"%s %.80s\"; expected %s", cli->command->name, name, buf_str(&names).p);
	buf_release(&names);
	return code;
}

int subcommand_run(struct cli *cli, const struct subcommand *list)
{
	size_t count = cli->options.arg_count ? cli->options.arg_count - 1 : 0;
	const struct subcommand *sub = list;
	int code;

	if (cli->options.arg_count)
		while (sub->name && strcmp(sub->name, cli->options.args[0]) != 0)
			sub++;
	if (sub->name == NULL)
		return refuse(cli, list);
	if (count < sub->min_args || count > sub->max_args)
		return cli_usage(cli, "%s %s %s; usage: spine %s %s %s", cli->command->name, sub->name,
				 count < sub->min_args ? "needs more arguments" : "has too many arguments",
				 cli->command->name, sub->name, sub->usage);
	code = check_options(cli, sub);
	if (code == CLI_OK)
		code = sub->exec ? sub->exec(cli) : one_call_run(cli, &sub->call, 1);
	return code;
}

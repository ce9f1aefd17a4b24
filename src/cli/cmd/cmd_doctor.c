/* spine doctor: looks at everything that may be wrong, and says what to do about it. */
#include "cli/commands.h"
#include "cli/doctor/findings.h"
#include "cli/shared_options.h"

static const struct option doctor_options[] = {
	{.name = "check", .type = OPTION_FLAG,
	 .help = "also read and verify the whole store, as spine check does; on this machine only"},
};

static const struct option_table doctor_table = {"What", doctor_options, OPTION_COUNT(doctor_options)};

static int exec_doctor(struct cli *cli)
{
	struct findings f;

	cli->is_told_at_once = true;	/* how it is now is what is asked for */
	if (cli_client(cli) == NULL)
		return CLI_USAGE;
	findings_init(&f, cli);
	if (doctor_look_at_server(&f))
		doctor_look_at_delivery(&f);
	findings_print(&f);
	return f.counts[FINDING_WARNING] + f.counts[FINDING_CRITICAL] ? CLI_FAILED : CLI_OK;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "Looks at everything that may be wrong, and says what to do about it",
	.usage = "",
	.about = "Server, versions of clients, clock, store and its growth, disk, the nodes of a cluster, queues, "
		 "breakers, parked handoffs, alerts. The exit code is 0 where nothing is to be done, 1 where something "
		 "is, also where the server cannot be reached, and 2 where the command line is wrong. It changes "
		 "nothing.\n\n"
		 "With --json the document is {\"ok\",\"findings\":[{\"about\",\"level\",\"says\",\"do\"}]}; level is "
		 "ok, note, warning or critical, and do is null where nothing is to be done.",
	.examples = {"spine doctor", "spine doctor --check --json | jq '.findings[].level'"},
	.tables = {&doctor_table, &client_table},
	.exec = exec_doctor,
};

/* spine migrate: the schema of a database that servers share. */
#include "admin/admin.h"
#include "admin/admin_migrate.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "codec/json_member.h"

enum { TEXT_MAX_BYTES = 4096 };

static const struct option migrate_options[] = {
	{.name = "store", .arg = "URL", .env = "SPINE_STORE", .type = OPTION_TEXT,
	 .help = "the database, postgres://user@host/name"},
	{.name = "finish", .type = OPTION_FLAG,
	 .help = "also take away what only older servers need; refused while one of them lives"},
};

static const struct option_table migrate_table = {"Migrating", migrate_options, OPTION_COUNT(migrate_options)};

static void print_schema(const struct cli *cli, const struct admin_schema *schema)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	if (!cli_is_json(cli)) {
		buf_printf(&out, "schema %d, for servers of version %s or later\n", schema->number,
			   schema->oldest_version);
		cli_write_buf(&out);
		return;
	}
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_int(&w, "schema", schema->number);
	json_member_int(&w, "oldest", schema->oldest);
	json_member_cstr(&w, "oldest_version", schema->oldest_version);
	json_end_object(&w);
	cli_write_json(cli, buf_str(&out));
	buf_release(&out);
}

static int exec_migrate(struct cli *cli)
{
	const char *store = options_text(&cli->options, "store");
	struct admin_schema schema = {0};
	struct buf error;
	int code = CLI_OK;

	if (store == NULL)
		return cli_usage(cli, "which database? --store postgres://user@host/name, or SPINE_STORE");
	buf_init(&error, TEXT_MAX_BYTES);
	if (!admin_store_is_good(store, &error)) {
		code = cli_usage(cli, "--store: %s", buf_str(&error).p);
	} else if (admin_migrate(store, options_flag(&cli->options, "finish"), &schema, &error)) {
		print_schema(cli, &schema);
	} else {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	}
	buf_release(&error);
	return code;
}

const struct command cmd_migrate = {
	.name = "migrate",
	.summary = "Brings the schema of a database in PostgreSQL up to date; a server does so when it starts",
	.usage = "--store URL [--finish]",
	.about = "A migration only adds, so that older servers go on beside newer ones while a cluster is upgraded one "
		 "node after the other. When all of them are new, --finish takes away what only the older ones needed; "
		 "from then on a server that is older than the schema does not start.",
	.examples = {"spine migrate --store postgres://spine@db1/spine",
		     "spine migrate --store postgres://spine@db1/spine --finish"},
	.tables = {&migrate_table, &json_table},
	.exec = exec_migrate,
};

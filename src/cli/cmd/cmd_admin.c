/* What is done to a data directory, beside the server or without it: backup, restore, check. */
#include "admin/admin.h"
#include "cli/commands.h"
#include "cli/data_dir.h"
#include "cli/shared_options.h"
#include "codec/json_member.h"

enum { PROBLEMS_MAX_BYTES = 16 * 1024 * 1024, TEXT_MAX_BYTES = 64 * 1024, ERROR_MAX_BYTES = 8192 };

#define DIRECTORY_ABOUT \
	"It opens the files of a data directory itself, and says which: that of --data, else that of the server " \
	"which --url or SPINE_URL names and which must be on this machine, else the usual one."

/* --- What there is in a store or a backup --- */

static void put_count(struct buf *out, int64_t count, const char *one, const char *many)
{
	buf_printf(out, "%lld %s", (long long)count, count == 1 ? one : many);
}

/* "3 memories in 4 versions, 2 envelopes, 1 handoff, 17 events" */
static void put_contents(struct buf *out, const struct admin_check *found)
{
	put_count(out, found->memories, "memory in ", "memories in ");
	put_count(out, found->versions, "version, ", "versions, ");
	put_count(out, found->envelopes, "envelope, ", "envelopes, ");
	put_count(out, found->handoffs, "handoff, ", "handoffs, ");
	put_count(out, found->events, "event", "events");
}

static void put_contents_json(struct json_writer *w, const struct admin_check *found)
{
	json_member_int(w, "memories", found->memories);
	json_member_int(w, "versions", found->versions);
	json_member_int(w, "envelopes", found->envelopes);
	json_member_int(w, "handoffs", found->handoffs);
	json_member_int(w, "events", found->events);
}

/* --- Backup --- */

static void print_saved(const struct cli *cli, const char *dir, const char *file, const struct admin_check *found)
{
	struct str data = term_line(cli->arena, str_of(dir));
	struct str shown = term_line(cli->arena, str_of(file));
	struct json_writer w;
	struct buf out;

	buf_init(&out, TEXT_MAX_BYTES);
	if (!cli_is_json(cli)) {
		put_contents(&out, found);
		cli_note(cli, "saved the store of %.*s in %.*s: %s", STR_ARG(data), STR_ARG(shown), buf_str(&out).p);
	} else {
		json_writer_init(&w, &out);
		json_begin_object(&w);
		json_member_str(&w, "file", shown);
		json_member_str(&w, "data", data);
		put_contents_json(&w, found);
		json_member_int(&w, "problems", found->problems);
		json_end_object(&w);
		cli_write_json(cli, buf_str(&out));
	}
	buf_release(&out);
}

static const struct option backup_options[] = {
	{.name = "encrypt-to", .arg = "FILE", .type = OPTION_PATH,
	 .help = "so that only the owner of the private key can read it: the PEM file of a public key, X25519 or RSA"},
};

static const struct option_table backup_table = {"Saving", backup_options, OPTION_COUNT(backup_options)};

/* A store that is in disorder is copied as it is; better to know that now than when the copy is needed. */
static int save(const struct cli *cli, const char *dir, const char *file, struct buf *error)
{
	const char *to = options_text(&cli->options, "encrypt-to");
	struct admin_check found = {0};
	struct buf problems;
	int code = CLI_FAILED;
	bool ok;

	buf_init(&problems, PROBLEMS_MAX_BYTES);
	if (to)
		ok = admin_backup_encrypted(dir, file, to, &found, &problems, error);
	else
		ok = admin_backup(dir, file, error) && admin_check_file(file, &found, &problems, error);
	if (ok) {
		print_saved(cli, dir, file, &found);
		code = found.problems ? CLI_DAMAGED : CLI_OK;
	}
	if (ok && found.problems)
		cli_error(cli, "the backup has %lld problem%s, as the store has: spine check%s%s",
			  (long long)found.problems, found.problems == 1 ? "" : "s", to ? "" : " ", to ? "" : file);
	buf_release(&problems);
	return code;
}

static int exec_backup(struct cli *cli)
{
	const char *file = cli->options.args[0], *dir;
	struct buf error;
	int code = data_dir_choose(cli, &dir);

	if (code != CLI_OK)
		return code;
	buf_init(&error, ERROR_MAX_BYTES);
	code = save(cli, dir, file, &error);
	if (error.len)
		cli_error(cli, "%s", buf_str(&error).p);
	buf_release(&error);
	return code;
}

const struct command cmd_backup = {
	.name = "backup",
	.summary = "Saves the whole store, of all spaces, in one file; also while the server runs",
	.usage = "FILE", .min_args = 1, .max_args = 1,
	.about = "The file must not exist; only its owner can read it. It is read and verified once it is written, as "
		 "by spine check FILE. Put it back with spine restore.\n\n"
		 "With --encrypt-to it is encrypted with AES-256-GCM, for the owner of the private key alone. These "
		 "make the two keys: openssl genpkey -algorithm X25519 -out backup.key; openssl pkey -in backup.key "
		 "-pubout -out backup.pub. The private one is needed for spine restore and nowhere else: keep it off "
		 "this machine. Without it the backup is lost. While it is made there is a copy that is not encrypted "
		 "in the data directory, backup-NUMBER.tmp.\n\n"
		 DIRECTORY_ABOUT,
	.examples = {"spine backup ./spine-backup.db"},
	.tables = {&backup_table, &store_table, &json_table},
	.args = ARGS_FILES,
	.exec = exec_backup,
};

/* --- Restore --- */

static const struct option restore_options[] = {
	{.name = "replace", .type = OPTION_FLAG,
	 .help = "also where there is a store already, which is kept beside under another name"},
	{.name = "decrypt-with", .arg = "FILE", .type = OPTION_PATH,
	 .help = "the PEM file of the private key of a backup that is encrypted; only its owner may read it"},
	{.name = "passphrase-file", .arg = "FILE", .type = OPTION_PATH,
	 .help = "the first line of this file opens that key; only its owner may read it"},
};

static const struct option_table restore_table = {"Restoring", restore_options, OPTION_COUNT(restore_options)};

static void print_restored(const struct cli *cli, const char *data, struct str kept)
{
	struct json_writer w;
	struct buf out;

	if (!cli_is_json(cli)) {
		cli_note(cli, "restored into %s%s%.*s", data, kept.n ? "; the old store is " : "", STR_ARG(kept));
		return;
	}
	buf_init(&out, TEXT_MAX_BYTES);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_str(&w, "data", term_line(cli->arena, str_of(data)));
	json_member_optional(&w, "kept", kept.n ? term_line(cli->arena, kept) : STR_NULL);
	json_end_object(&w);
	cli_write_json_buf(cli, &out);
}

static bool put_back(const struct cli *cli, const char *dir, struct buf *kept, struct buf *error)
{
	const struct encrypted_key key = {
		options_text(&cli->options, "decrypt-with"), options_text(&cli->options, "passphrase-file"),
	};
	bool replace = options_flag(&cli->options, "replace");

	if (key.file)
		return admin_restore_encrypted(dir, cli->options.args[0], &key, replace, kept, error);
	return admin_restore(dir, cli->options.args[0], replace, kept, error);
}

static int exec_restore(struct cli *cli)
{
	struct buf kept, error;
	const char *dir;
	int code;

	if (options_text(&cli->options, "passphrase-file") && options_text(&cli->options, "decrypt-with") == NULL)
		return cli_usage(cli, "--passphrase-file opens the key of --decrypt-with, which is not given");
	code = data_dir_choose(cli, &dir);
	if (code != CLI_OK)
		return code;
	buf_init(&kept, ERROR_MAX_BYTES);
	buf_init(&error, ERROR_MAX_BYTES);
	if (put_back(cli, dir, &kept, &error)) {
		print_restored(cli, dir, buf_str(&kept));
	} else {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	}
	buf_release(&kept);
	buf_release(&error);
	return code;
}

const struct command cmd_restore = {
	.name = "restore",
	.summary = "Puts a backup in the place of the store",
	.usage = "FILE", .min_args = 1, .max_args = 1,
	.about = "No server may run on the data directory. The backup is checked first, and a store that is there "
		 "already is not touched without --replace.\n\n"
		 "A backup that was made with --encrypt-to needs the private key: --decrypt-with. All of it is "
		 "verified before anything is written.\n\n"
		 DIRECTORY_ABOUT,
	.examples = {"spine restore ./spine-backup.db --data ./restored"},
	.tables = {&restore_table, &store_table, &json_table},
	.args = ARGS_FILES,
	.exec = exec_restore,
};

/* --- Check --- */

static void print_check_json(const struct cli *cli, const char *store, const struct admin_check *found,
			     struct str problems)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, 8 * (size_t)PROBLEMS_MAX_BYTES);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_bool(&w, "ok", found->problems == 0);
	json_member_str(&w, "store", term_line(cli->arena, str_of(store)));
	put_contents_json(&w, found);
	json_key(&w, "problems");
	json_begin_array(&w);
	while (problems.p && problems.n) {
		struct str line = term_line(cli->arena, str_cut(&problems, '\n'));

		if (line.n)
			json_put_str(&w, line);
	}
	json_end_array(&w);
	json_end_object(&w);
	cli_write_json_buf(cli, &out);
}

static void print_check(const struct cli *cli, const char *store, const struct admin_check *found, struct str problems)
{
	struct buf out;

	buf_init(&out, 8 * (size_t)PROBLEMS_MAX_BYTES);
	term_put_text(&out, problems);
	term_put_line(&out, str_of(store), SIZE_MAX);
	buf_puts(&out, ": ");
	put_contents(&out, found);
	buf_puts(&out, ": ");
	if (found->problems == 0)
		buf_printf(&out, "%sall well%s\n", term_on(&cli->out, TERM_GREEN), term_off(&cli->out, TERM_GREEN));
	else
		buf_printf(&out, "%s%lld problem%s%s\n", term_on(&cli->out, TERM_RED), (long long)found->problems,
			   found->problems == 1 ? "" : "s", term_off(&cli->out, TERM_RED));
	cli_write_buf(&out);
}

static int exec_check(struct cli *cli)
{
	const char *file = cli->options.arg_count ? cli->options.args[0] : NULL;
	const char *data = NULL;
	struct admin_check found = {0};
	struct buf problems, error;
	bool ok;
	int code;

	if (file && options_value(&cli->options, "data")->source == OPTION_FROM_ARGS)
		return cli_usage(cli, "check reads a backup or the store of --data, not both");
	code = file ? CLI_OK : data_dir_choose(cli, &data);
	if (code != CLI_OK)
		return code;
	buf_init(&problems, PROBLEMS_MAX_BYTES);
	buf_init(&error, ERROR_MAX_BYTES);
	ok = file ? admin_check_file(file, &found, &problems, &error) : admin_check(data, &found, &problems, &error);
	if (!ok) {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	} else {
		if (cli_is_json(cli))
			print_check_json(cli, file ? file : data, &found, buf_str(&problems));
		else
			print_check(cli, file ? file : data, &found, buf_str(&problems));
		code = found.problems ? CLI_DAMAGED : CLI_OK;
	}
	buf_release(&problems);
	buf_release(&error);
	return code;
}

const struct command cmd_check = {
	.name = "check",
	.summary = "Reads the whole store and verifies it; also while the server runs",
	.usage = "[FILE]", .max_args = 1,
	.about = "With a file, that backup is read instead, where it lies; nothing is restored. Each problem is a "
		 "line. The exit code is 6 where there are any.\n\n"
		 DIRECTORY_ABOUT,
	.examples = {"spine check", "spine check ./spine-backup.db"},
	.tables = {&store_table, &json_table},
	.args = ARGS_FILES,
	.exec = exec_check,
};

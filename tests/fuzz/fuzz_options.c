/* Options from the command line and from a file, with the tables of `spine serve`: read, or refused with a sentence. */
#include "fuzz.h"

#include "base/options.h"
#include "cli/commands.h"

enum { ARGS_MAX = 16 };

static void parse_file(struct str text)
{
	const struct option_table *const *tables = cmd_serve.tables;
	struct options o;
	struct arena arena;
	struct buf error;

	arena_init(&arena);
	buf_init(&error, 8192);
	options_init(&o, tables, &arena);
	if (!options_parse_config(&o, tables, "spine.conf", text, &error))
		PROMISE(error.len > 0, "a file is refused with a reason");
	else
		options_apply_defaults(&o, &error);
	buf_release(&error);
	arena_release(&arena);
}

static void parse_args(struct str text)
{
	const struct option_table *const *tables = cmd_serve.tables;
	char *args[ARGS_MAX];
	struct options o;
	struct arena arena;
	struct buf error;
	int count = 0;

	arena_init(&arena);
	buf_init(&error, 8192);
	while (text.p && text.n && count < ARGS_MAX)
		args[count++] = arena_cstr(&arena, str_cut(&text, '\n'));
	options_init(&o, tables, &arena);
	if (!options_parse_args(&o, count, args, &error))
		PROMISE(error.len > 0, "arguments are refused with a reason");
	buf_release(&error);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse_file(fuzz_str(data, size));
	parse_args(fuzz_str(data, size));
	return 0;
}

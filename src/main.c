#include "base/arena.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
	struct arena arena;
	int code;

	arena_init(&arena);
	code = cli_run(&arena, argc, argv);
	arena_release(&arena);
	return code;
}

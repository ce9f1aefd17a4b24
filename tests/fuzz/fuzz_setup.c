/* Files that people write by hand and `spine setup` changes: what is set is there, what is removed is gone, and
 * a file that is not understood is left as it is. */
#include "fuzz.h"

#include "cli/setup/jsonc.h"
#include "cli/setup/toml.h"

static void change_jsonc(struct str text)
{
	static const char *const path[] = {"mcpServers", "memory-spine", NULL};
	static const char *const list[] = {"servers", NULL};
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_put(&b, text);
	if (jsonc_is_object(text)) {
		if (jsonc_set(&b, path, STR("{\"command\":\"spine\"}"))) {
			PROMISE(jsonc_is_object(buf_str(&b)), "what was an object still is one");
			PROMISE(jsonc_is_same(jsonc_get(buf_str(&b), path), STR("{\"command\":\"spine\"}")),
				"what was set is there");
			if (jsonc_remove(&b, path))
				PROMISE(jsonc_get(buf_str(&b), path).p == NULL, "what was removed is gone");
			PROMISE(jsonc_is_object(buf_str(&b)), "what was an object is one in the end");
		}
		if (jsonc_append(&b, list, STR("\"x\"")))
			jsonc_remove_item(&b, list, 0);
	}
	buf_release(&b);
}

static void change_toml(struct str text)
{
	static const struct toml_key keys[] = {
		{"command", "\"spine\""}, {"args", "[\"mcp\"]"}, {"gone", NULL}, {NULL, NULL},
	};
	struct buf b, before;

	buf_init(&b, 1 << 20);
	buf_init(&before, 1 << 20);
	buf_put(&b, text);
	if (toml_set(&b, "mcp_servers", "memory-spine", keys)) {
		buf_put(&before, buf_str(&b));
		PROMISE(toml_set(&b, "mcp_servers", "memory-spine", keys) && str_eq(buf_str(&b), buf_str(&before)),
			"setting the same again changes nothing");
		toml_remove(&b, "mcp_servers", "memory-spine");
	} else {
		PROMISE(str_eq(buf_str(&b), text), "what is not understood is left as it is");
	}
	buf_clear(&b);
	toml_put_string(&b, text);
	buf_release(&b);
	buf_release(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);

	memcpy(copy, data, size);
	change_jsonc((struct str){copy, size});
	change_toml((struct str){copy, size});
	free(copy);
	return 0;
}

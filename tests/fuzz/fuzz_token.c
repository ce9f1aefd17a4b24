/* The tokenizers: parts that may be cut add up, a prefix has as many tokens as it says, ids are as many as counted. */
#include "fuzz.h"

#include "token/token.h"

enum { IDS = 4096 };

static void check(const struct tokenizer *t, struct str text, size_t at, size_t max)
{
	static uint32_t ids[IDS];
	struct str before = str_sub(text, 0, at), after = str_sub(text, at, text.n);
	size_t count = tokenizer_count(t, text), prefix = tokenizer_prefix(t, text, max);

	PROMISE(tokenizer_tokens(t, tokenizer_measure(t, text)) == count, "a measure is a count");
	if (tokenizer_cuts(before, after))
		PROMISE(tokenizer_measure(t, before) + tokenizer_measure(t, after) == tokenizer_measure(t, text),
			"where a text may be cut its parts add up");
	PROMISE(prefix <= text.n && tokenizer_count(t, str_sub(text, 0, prefix)) <= max, "a prefix fits");
	PROMISE(count > max || prefix == text.n, "what fits is left whole");
	if (!tokenizer_is_estimate(t))
		PROMISE(tokenizer_encode(t, text, ids, IDS) == count, "there are as many ids as tokens");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t where = fuzz_choice(&data, &size), max = fuzz_choice(&data, &size);
	struct str text = fuzz_str(data, size);
	const struct tokenizer *t;

	for (size_t i = 0; (t = tokenizer_at(i)) != NULL; i++)
		check(t, text, size ? where % (size + 1) : 0, max);
	return 0;
}

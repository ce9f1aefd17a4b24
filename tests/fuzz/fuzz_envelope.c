/* Envelopes as they are stored: any JSON at all is read or refused; what is read is written and read again, the same.
 */
#include "fuzz.h"

#include "core/envelope/envelope.h"
#include "core/envelope/render.h"

static void write_twice(const struct envelope *e, struct arena *arena)
{
	struct buf first, second;
	struct envelope again;

	buf_init(&first, 16 << 20);
	buf_init(&second, 16 << 20);
	envelope_write(e, ENVELOPE_WHOLE, &first);
	PROMISE(envelope_read(buf_str(&first), arena, &again), "what was written is read again");
	envelope_write(&again, ENVELOPE_WHOLE, &second);
	PROMISE(str_eq(buf_str(&first), buf_str(&second)), "writing again gives the same bytes");
	buf_release(&first);
	buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;
	struct envelope e;
	uint8_t digest[32];
	struct buf text;

	arena_init(&arena);
	if (envelope_read(fuzz_str(data, size), &arena, &e)) {
		write_twice(&e, &arena);
		envelope_digest(&e, digest);
		buf_init(&text, RENDER_MAX_BYTES);
		render_prompt(&e, &text);
		buf_clear(&text);
		render_v1(&e, &text);
		buf_release(&text);
	}
	arena_release(&arena);
	return 0;
}

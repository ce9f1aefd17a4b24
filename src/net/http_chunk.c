#include "net/http_chunk.h"

/* Extensions mean nothing here. One on every byte of a body would have the server read hundreds of times as much. */
enum { SIZE_DIGITS_MAX = 8, SIZE_LINE_MAX = 256, EXTENSIONS_MAX = 16384 };

enum chunk_state {
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_LAST_CR,
	CHUNK_LAST_LF,
	CHUNK_DONE,
};

/* Takes a byte of the size line. False where it may not stand there. */
static bool take_size(struct http_chunk *chunk, char c)
{
	int digit = str_hex_digit(c);

	if (digit >= 0) {
		chunk->left = chunk->left << 4 | (uint32_t)digit;
		return ++chunk->line_len <= SIZE_DIGITS_MAX;
	}
	if (chunk->line_len == 0 || (c != ';' && c != '\r'))
		return false;
	chunk->state = c == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
	return true;
}

static bool take_extension(struct http_chunk *chunk, char c)
{
	if (c == '\r')
		chunk->state = CHUNK_SIZE_LF;
	else if (((unsigned char)c < ' ' && c != '\t') || (unsigned char)c >= 0x7f)
		return false;
	return ++chunk->line_len <= SIZE_LINE_MAX && ++chunk->extension_len <= EXTENSIONS_MAX;
}

/* Takes a byte outside of the data. False where it may not stand there. */
static bool take_byte(struct http_chunk *chunk, char c)
{
	switch ((enum chunk_state)chunk->state) {
	case CHUNK_SIZE:
		return take_size(chunk, c);
	case CHUNK_EXTENSION:
		return take_extension(chunk, c);
	case CHUNK_SIZE_LF:
		chunk->state = chunk->left ? CHUNK_DATA : CHUNK_LAST_CR;
		return c == '\n';
	case CHUNK_DATA_CR:
		chunk->state = CHUNK_DATA_LF;
		return c == '\r';
	case CHUNK_DATA_LF:
		chunk->state = CHUNK_SIZE;
		chunk->line_len = 0;
		return c == '\n';
	case CHUNK_LAST_CR:
		chunk->state = CHUNK_LAST_LF;
		return c == '\r';
	case CHUNK_LAST_LF:
		chunk->state = CHUNK_DONE;
		return c == '\n';
	case CHUNK_DATA:
	case CHUNK_DONE:
		break;
	}
	return false;
}

static struct str take_data(struct http_chunk *chunk, struct str *input)
{
	size_t n = input->n < chunk->left ? input->n : chunk->left;
	struct str data = str_sub(*input, 0, n);

	*input = str_sub(*input, n, input->n);
	chunk->left -= (uint32_t)n;
	if (chunk->left == 0)
		chunk->state = CHUNK_DATA_CR;
	return data;
}

enum http_chunk_result http_chunk_decode(struct http_chunk *chunk, struct str *input, struct str *ret_data)
{
	while (input->n > 0) {
		if (chunk->state == CHUNK_DATA) {
			*ret_data = take_data(chunk, input);
			return HTTP_CHUNK_DATA;
		}
		if (!take_byte(chunk, input->p[0]))
			return HTTP_CHUNK_BAD;
		*input = str_sub(*input, 1, input->n);
		if (chunk->state == CHUNK_DATA)
			return HTTP_CHUNK_SIZE;
		if (chunk->state == CHUNK_DONE)
			return HTTP_CHUNK_END;
	}
	return HTTP_CHUNK_MORE;
}

#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void msi_error_clear(ms_error *error)
{
	if (error)
		*error = (ms_error){.retry_after_ms = -1};
}

/* A text that was cut must not end in the middle of a character. */
static void mend_end(char *text)
{
	size_t len = strlen(text), start = len;

	while (start > 0 && len - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start > 0 && (unsigned char)text[start - 1] >= 0xc0) {
		unsigned char lead = (unsigned char)text[start - 1];
		size_t wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;

		if (len - start < wanted)
			text[start - 1] = '\0';
	}
}

void msi_error_copy(char *ret, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len < size) {
		memcpy(ret, text, len + 1);
		return;
	}
	memcpy(ret, text, size - 1);
	ret[size - 1] = '\0';
	mend_end(ret);
}

__attribute__((format(printf, 4, 0)))
static void fill(ms_error *error, ms_status status, const char *code, const char *format, va_list args)
{
	int len;

	error->status = status;
	msi_error_copy(error->code, sizeof(error->code), code);
	len = vsnprintf(error->detail, sizeof(error->detail), format, args);
	if (len < 0)
		error->detail[0] = '\0';
	else if ((size_t)len >= sizeof(error->detail))
		mend_end(error->detail);
}

ms_status msi_error_set(ms_error *error, ms_status status, const char *code, const char *format, ...)
{
	va_list args;

	if (error == NULL)
		return status;
	msi_error_clear(error);
	va_start(args, format);
	fill(error, status, code, format, args);
	va_end(args);
	return status;
}

ms_status msi_error_no_memory(ms_error *error)
{
	return msi_error_set(error, MS_NO_MEMORY, "no_memory", "there is not enough memory for this call");
}

ms_status msi_error_invalid(ms_error *error, const char *field, const char *format, ...)
{
	va_list args;

	if (error == NULL)
		return MS_INVALID;
	msi_error_clear(error);
	va_start(args, format);
	fill(error, MS_INVALID, "invalid_argument", format, args);
	va_end(args);
	msi_error_copy(error->field, sizeof(error->field), field);
	return MS_INVALID;
}

/* Private keys: PEM blocks as they are, in a string with \n, or in base64; PuTTY's files. The whole block is the
 * credential. */
#include "codec/base64.h"
#include "core/guard/credentials_internal.h"

/* Code that handles keys has their first and last lines in strings, and documents show them around dots: a block counts
 * where something like a key follows the first line. Escaped or not, with quotes and signs between the lines of a
 * program. Returns the length of the first run of base64, 0 where something else stands there. */
static size_t body_run(struct str text, size_t i)
{
	size_t limit = text.n - i > 400 ? i + 400 : text.n, start, end;

	for (;;) {
		while (i < limit && credentials_among(text.p[i], " \t\r\n\"'+\\,|>#*"))
			i += text.p[i] == '\\' && credentials_among(credentials_byte(text, i + 1), "nrt") ? 2 : 1;
		start = i;
		end = credentials_run(text, i, CH_ALNUM | CH_BASE64);
		/* Proc-Type: 4,ENCRYPTED; DEK-Info: …; Version: … */
		if (end == start || end >= limit || !credentials_among(text.p[end], ":-"))
			break;
		while (i < limit && text.p[i] != '\n' && !credentials_here(text, i, STR("\\n")))
			i++;
		if (i >= limit)
			return 0;
	}
	return credentials_value_distinct(str_sub(text, start, end)) < 5 ? 0 : end - start;
}

/* The first "-----END" from i on. Asked for ever later places, it reads the text once. */
static size_t pem_end(struct credentials_scan *s, size_t i)
{
	const char *found;

	if (!s->pem_end_known || s->pem_end < i) {
		found = memmem(s->text.p + i, s->text.n - i, "-----END", 8);
		s->pem_end = found ? (size_t)(found - s->text.p) : s->text.n;
		s->pem_end_known = true;
	}
	return s->pem_end;
}

bool credentials_block_pem(struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, label;
	size_t at = i + 11, label_end = at, run, end;

	if (i < s->from || !credentials_here(t, i, STR("-----BEGIN ")))
		return false;
	while (label_end < t.n && label_end < at + 48 && (credentials_is(t.p[label_end], CH_UPPER | CH_DIGIT) ||
	    t.p[label_end] == ' '))
		label_end++;
	label = str_sub(t, at, label_end);
	if (!credentials_here(t, label_end, STR("-----")) ||
	    !(str_has_suffix(label, STR("PRIVATE KEY")) || str_has_suffix(label, STR("PRIVATE KEY BLOCK"))))
		return false;
	run = body_run(t, label_end + 5);
	if (run < 8)
		return false;
	end = pem_end(s, label_end);
	/* Cut off: how far the key goes nobody can tell. */
	if (end == t.n && run < 32)
		return false;
	if (end < t.n) {
		end += 8;
		while (end < t.n && (credentials_is(t.p[end], CH_UPPER | CH_DIGIT) || t.p[end] == ' '))
			end++;
		end = credentials_run(t, end, CH_DASH);
	}
	*ret = (struct credential){i, end - i, "private_key"};
	return true;
}

bool credentials_block_putty(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, near;
	const char *found;
	size_t at, end;

	if (i < s->from + 5 || !credentials_here(t, i - 5, STR("PuTTY-User-Key-File-")))
		return false;
	at = i - 5;
	if (!credentials_is(credentials_byte(t, at + 20), CH_DIGIT) || credentials_byte(t, at + 21) != ':')
		return false;
	near = str_sub(t, at, t.n - at > 8192 ? at + 8192 : t.n);
	found = memmem(near.p, near.n, "Private-Lines:", 14);
	if (!found)
		return false;
	found = memmem(near.p, near.n, "Private-MAC:", 12);
	end = t.n;
	if (found) {
		end = (size_t)(found - t.p) + 12;
		while (end < t.n && (t.p[end] == ' ' || str_hex_digit(t.p[end]) >= 0))
			end++;
	}
	*ret = (struct credential){at, end - at, "private_key"};
	return true;
}

/* As Kubernetes keeps them: client-key-data: LS0tLS1CRUdJTi… */
bool credentials_block_base64(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	struct buf plain;
	bool is_key;
	size_t end;

	if (i < s->from || !credentials_here(t, i, STR("LS0tLS1CRUdJTi")) || !credentials_starts(t, i))
		return false;
	/* Before it is known to be one, no more is read: the next may begin inside it, behind a '/'. */
	if (t.n - i < 128 || credentials_run(str_sub(t, 0, i + 128), i, CH_ALNUM | CH_BASE64) != i + 128)
		return false;
	buf_init(&plain, 64);
	is_key = base64_decode(str_sub(t, i, i + 64), BASE64_PADDED, &plain) &&
		 memmem(plain.data, plain.len, "PRIVATE KEY", 11);
	buf_release(&plain);
	if (!is_key)
		return false;
	end = credentials_run(t, i, CH_ALNUM | CH_BASE64);
	while (end < t.n && t.p[end] == '=')
		end++;
	*ret = (struct credential){i, end - i, "private_key"};
	return true;
}

/* Tokens that have no joint behind their prefix, or a mark inside them. The scan stops at the rarest byte of each,
 * which is told by the byte before it. */
#include "core/guard/credentials_internal.h"

enum {
	BODY_BASE64 = 256,	/* CH_… and, of base64 as URLs have it, % */
	BODY_TILDE = 512
};

struct form {
	struct str mark;	/* what stands there; the scan stops inside it */
	uint8_t stop;		/* place in mark of the byte that the scan stops at */
	uint8_t before;		/* bytes of the token before mark */
	uint16_t body;		/* classes of the bytes behind mark */
	uint16_t min, max;	/* how many of them */
	const char *kind;
};

static const struct form FORMS[] = {
	{{"1//0", 4}, 3, 0, CH_NAME, 40, 200, "gcp_refresh_token"},
	{{"Q~", 2}, 1, 4, CH_NAME | CH_DOT | BODY_TILDE, 31, 36, "azure_client_secret"},
	{{"AKCp", 4}, 2, 0, CH_ALNUM, 60, 80, "jfrog_key"},
	{{"cmVmdGtu", 8}, 2, 0, CH_ALNUM, 50, 64, "jfrog_token"},
	{{"oy2", 3}, 2, 0, CH_LOWER | CH_DIGIT, 43, 43, "nuget_key"},
	{{"cio", 3}, 1, 0, CH_ALNUM, 32, 32, "crates_token"},
	{{"xprv", 4}, 1, 0, CH_ALNUM, 100, 112, "wallet_key"},
	{{"5K", 2}, 1, 0, CH_ALNUM, 49, 49, "wallet_key"},
	{{"5J", 2}, 1, 0, CH_ALNUM, 49, 49, "wallet_key"},
	{{"5H", 2}, 1, 0, CH_ALNUM, 49, 49, "wallet_key"},
	{{"AZDO", 4}, 1, 76, CH_ALNUM, 4, 4, "azure_devops_token"},
	{{"EAAA", 4}, 2, 0, CH_NAME, 56, 64, "square_token"},
	{{"AAAAAAAAAAAAAAAAAAAA", 20}, 1, 0, CH_ALNUM | BODY_BASE64, 70, 120, "twitter_token"},
};

static bool is_body(char c, unsigned classes)
{
	return credentials_is(c, classes & 0xff) || ((classes & BODY_BASE64) && c == '%') ||
	       ((classes & BODY_TILDE) && c == '~');
}

static size_t run(struct str text, size_t i, unsigned classes, size_t most)
{
	size_t limit = text.n - i > most ? i + most : text.n;

	while (i < limit && is_body(text.p[i], classes))
		i++;
	return i;
}

/* The end of the token that begins at at, or 0. */
static size_t match(struct str text, size_t at, const struct form *f)
{
	size_t from = at + f->before + f->mark.n, end;

	if (!credentials_starts(text, at) || (at > 0 && credentials_among(text.p[at - 1], "+/=~")))
		return 0;
	if (run(text, at, f->body, f->before) != at + f->before)
		return 0;
	/* Azure's: three letters and a digit. */
	if ((f->body & BODY_TILDE) && !credentials_is(text.p[at + 3], CH_DIGIT))
		return 0;
	end = run(text, from, f->body, f->max + 1u);
	while (end > from && text.p[end - 1] == '.')
		end--;
	if (end - from < f->min || end - from > f->max || credentials_among(credentials_byte(text, end), "+/") ||
	    credentials_is(credentials_byte(text, end), CH_NAME))
		return 0;
	return credentials_value_is_random(str_sub(text, f->before ? at : from, end), f->min) ? end : 0;
}

bool credentials_issued(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	for (size_t k = 0; k < sizeof(FORMS) / sizeof(FORMS[0]); k++) {
		const struct form *f = &FORMS[k];
		size_t before = (size_t)f->stop + f->before, end;

		if (f->mark.p[f->stop] != s->text.p[i] || i < s->from + before ||
		    !credentials_here(s->text, i - f->stop, f->mark))
			continue;
		end = match(s->text, i - before, f);
		if (end) {
			*ret = (struct credential){i - before, end - (i - before), f->kind};
			return true;
		}
	}
	return false;
}

/* 32 hexadecimal digits and the data centre: …-us12. */
bool credentials_issued_mailchimp(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { HEX = 32 };
	size_t at = i - HEX, end = i + 3;

	if (i < s->from + HEX || !credentials_here(s->text, i, STR("-us")) || !credentials_starts(s->text, at))
		return false;
	for (size_t k = at; k < i; k++)
		if (str_hex_digit(s->text.p[k]) < 0)
			return false;
	end = credentials_run(s->text.n - end > 3 ? str_sub(s->text, 0, end + 3) : s->text, end, CH_DIGIT);
	if (end == i + 3 || credentials_is(credentials_byte(s->text, end), CH_NAME) ||
	    !credentials_value_is_random(str_sub(s->text, at, i), HEX))
		return false;
	*ret = (struct credential){at, end - at, "mailchimp_key"};
	return true;
}

/* Tokens that can be told by their form alone: a prefix that their issuer gave them, followed by enough of the right
 * bytes.
 *
 * The table is ordered by the byte that the scan stops at, the first '_', '-' or '.' of the prefix; of two that begin
 * alike the longer comes first.
 */
#include "core/guard/credentials_internal.h"

struct form {
	char prefix[17];
	uint8_t prefix_len;
	uint8_t stop;		/* place in prefix of the byte that the scan stops at */
	uint8_t body;		/* classes of the bytes behind the prefix */
	uint16_t min, max;	/* how many of them */
	bool weak;		/* the prefix is that of other things too: the rest must look random */
	const char *kind;
};

#define FORM(prefix, stop, body, min, max, weak, kind) {prefix, sizeof(prefix) - 1, stop, body, min, max, weak, kind}

static const struct form UNDERSCORE[] = {
	FORM("ghp_", 3, CH_WORD, 20, 255, false, "github_token"),
	FORM("gho_", 3, CH_WORD, 20, 255, false, "github_token"),
	FORM("ghu_", 3, CH_WORD, 20, 255, false, "github_token"),
	FORM("ghs_", 3, CH_WORD, 20, 1024, false, "github_token"),
	FORM("ghr_", 3, CH_WORD, 20, 255, false, "github_token"),
	FORM("github_pat_", 6, CH_WORD, 22, 255, false, "github_token"),
	FORM("sk_live_", 2, CH_ALNUM, 16, 255, false, "stripe_key"),
	FORM("sk_test_", 2, CH_ALNUM, 16, 255, false, "stripe_key"),
	FORM("rk_live_", 2, CH_ALNUM, 16, 255, false, "stripe_key"),
	FORM("rk_test_", 2, CH_ALNUM, 16, 255, false, "stripe_key"),
	FORM("whsec_", 5, CH_ALNUM | CH_BASE64, 24, 128, true, "stripe_key"),
	FORM("npm_", 3, CH_ALNUM, 36, 36, false, "npm_token"),
	FORM("hf_", 2, CH_ALNUM, 30, 40, true, "huggingface_token"),
	FORM("dop_v1_", 3, CH_ALNUM, 40, 64, false, "digitalocean_token"),
	FORM("doo_v1_", 3, CH_ALNUM, 40, 64, false, "digitalocean_token"),
	FORM("dor_v1_", 3, CH_ALNUM, 40, 64, false, "digitalocean_token"),
	FORM("shpat_", 5, CH_ALNUM, 32, 64, true, "shopify_token"),
	FORM("shpss_", 5, CH_ALNUM, 32, 64, true, "shopify_token"),
	FORM("shpca_", 5, CH_ALNUM, 32, 64, true, "shopify_token"),
	FORM("lin_api_", 3, CH_ALNUM, 32, 64, true, "linear_token"),
	FORM("glsa_", 4, CH_WORD, 32, 64, true, "grafana_token"),
	FORM("gsk_", 3, CH_ALNUM, 40, 64, true, "groq_key"),
	FORM("r8_", 2, CH_ALNUM, 37, 40, true, "replicate_token"),
	FORM("ntn_", 3, CH_ALNUM, 40, 64, true, "notion_token"),
	FORM("dckr_pat_", 4, CH_NAME, 24, 64, true, "docker_token"),
	FORM("sbp_", 3, CH_ALNUM, 40, 64, true, "supabase_token"),
};

static const struct form DASH[] = {
	FORM("sk-ant-", 2, CH_NAME, 16, 255, false, "anthropic_key"),
	FORM("sk-proj-", 2, CH_NAME, 16, 255, false, "openai_key"),
	FORM("sk-svcacct-", 2, CH_NAME, 16, 255, false, "openai_key"),
	FORM("sk-admin-", 2, CH_NAME, 16, 255, true, "openai_key"),
	FORM("sk-or-v1-", 2, CH_ALNUM, 32, 128, false, "openrouter_key"),
	FORM("sk-", 2, CH_NAME, 20, 255, true, "openai_key"),
	FORM("glpat-", 5, CH_NAME | CH_DOT, 20, 255, false, "gitlab_token"),
	FORM("gldt-", 4, CH_NAME, 20, 64, true, "gitlab_token"),
	FORM("glrt-", 4, CH_NAME, 20, 64, true, "gitlab_token"),
	FORM("glptt-", 5, CH_NAME, 20, 64, true, "gitlab_token"),
	FORM("glcbt-", 5, CH_NAME, 20, 64, true, "gitlab_token"),
	FORM("xoxb-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token"),
	FORM("xoxa-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token"),
	FORM("xoxp-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token"),
	FORM("xoxr-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token"),
	FORM("xoxs-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token"),
	FORM("xoxe-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token"),
	FORM("xapp-", 4, CH_ALNUM | CH_DASH, 32, 255, true, "slack_token"),
	FORM("pypi-AgEI", 4, CH_NAME, 40, 512, false, "pypi_token"),
	FORM("GOCSPX-", 6, CH_NAME, 24, 40, false, "gcp_oauth_secret"),
	FORM("AGE-SECRET-KEY-1", 3, CH_UPPER | CH_DIGIT, 50, 64, false, "age_key"),
	FORM("sq0atp-", 6, CH_NAME, 22, 64, true, "square_token"),
	FORM("sq0csp-", 6, CH_NAME, 40, 64, true, "square_token"),
	FORM("pplx-", 4, CH_ALNUM, 40, 64, true, "perplexity_key"),
	FORM("xai-", 3, CH_ALNUM, 60, 100, true, "xai_key"),
};

static const struct form DOT[] = {
	FORM("SG.", 2, CH_NAME | CH_DOT, 40, 128, true, "sendgrid_key"),
	FORM("ya29.", 4, CH_NAME, 30, 512, true, "gcp_oauth_token"),
	FORM("hvs.", 3, CH_NAME, 24, 256, true, "vault_token"),
	FORM("hvb.", 3, CH_NAME, 24, 256, true, "vault_token"),
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool is_hex_digit(char c)
{
	return str_hex_digit(c) >= 0;
}

bool credentials_starts(struct str text, size_t at)
{
	char prev;

	if (at == 0)
		return true;
	prev = text.p[at - 1];
	if (!credentials_is(prev, CH_NAME))
		return true;
	if (at >= 2 && text.p[at - 2] == '\\' && (prev == 'n' || prev == 't' || prev == 'r'))
		return true;
	return at >= 3 && text.p[at - 3] == '%' && is_hex_digit(text.p[at - 2]) && is_hex_digit(prev);
}

static bool hit(struct credential *ret, size_t at, size_t end, const char *kind)
{
	*ret = (struct credential){at, end - at, kind};
	return true;
}

/* The end of the token of this form that begins at at, or 0. */
static size_t match(struct str text, size_t at, const struct form *f)
{
	struct str prefix = {f->prefix, f->prefix_len}, body;
	size_t from = at + prefix.n, end;

	if (!credentials_here(text, at, prefix) || !credentials_starts(text, at))
		return 0;
	/* One byte more than it may have, however long the run is: the next prefix may stand inside it. */
	end = credentials_run(text.n - from > f->max + 1u ? str_sub(text, 0, from + f->max + 1u) : text, from, f->body);
	/* What ends a sentence is not part of it. */
	while (end > from && text.p[end - 1] == '.')
		end--;
	body = str_sub(text, from, end);
	if (body.n < f->min || body.n > f->max || credentials_value_distinct(body) < 6)
		return 0;
	if (f->weak && !credentials_value_is_random(body, f->min))
		return 0;
	return end;
}

static bool prefixed(const struct credentials_scan *s, size_t i, const struct form *table, size_t count,
		     struct credential *ret)
{
	char before = i > 0 ? s->text.p[i - 1] : 0;

	/* The byte before the joint rules out most forms at once. */
	for (size_t k = 0; k < count; k++) {
		const struct form *f = &table[k];
		size_t end;

		if (f->prefix[f->stop - 1] != before || i < s->from + f->stop)
			continue;
		end = match(s->text, i - f->stop, f);
		if (end)
			return hit(ret, i - f->stop, end, f->kind);
	}
	return false;
}

bool credentials_token_prefixed(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	switch (s->text.p[i]) {
	case '_':
		return prefixed(s, i, UNDERSCORE, COUNT(UNDERSCORE), ret);
	case '-':
		return prefixed(s, i, DASH, COUNT(DASH), ret);
	default:
		return prefixed(s, i, DOT, COUNT(DOT), ret);
	}
}

/* Of an access key id: 16 capitals and digits, and no more. */
static bool is_aws_id(struct str text, size_t at)
{
	static const char *const prefixes[] = {"AKIA", "ASIA", "ABIA"};
	bool known = false;

	if (text.n < 20 || at > text.n - 20 || !credentials_starts(text, at) ||
	    credentials_is(credentials_byte(text, at + 20), CH_WORD))
		return false;
	for (size_t i = 0; i < COUNT(prefixes); i++)
		known = known || credentials_here(text, at, str_of(prefixes[i]));
	text.n = at + 20;
	return known && credentials_run(text, at, CH_UPPER | CH_DIGIT) == text.n &&
	       credentials_value_distinct(str_sub(text, at + 4, text.n)) >= 6;
}

bool credentials_token_aws(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	if (i < s->from + 2 || s->text.p[i - 2] != 'A' || !is_aws_id(s->text, i - 2))
		return false;
	return hit(ret, i - 2, i + 18, "aws_access_key");
}

bool credentials_token_google(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i - 2, end;

	if (i < s->from + 2 || !credentials_here(t, at, STR("AIza")) || !credentials_starts(t, at))
		return false;
	end = credentials_run(t, at, CH_NAME);
	if (end - at < 39 || end - at > 44 || credentials_value_distinct(str_sub(t, at, end)) < 10)
		return false;
	return hit(ret, at, end, "gcp_api_key");
}

/* Header and claims are JSON objects, so that both begin with eyJ; the signature may be anything. */
bool credentials_token_jwt(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i - 2, header, claims, end;

	if (i < s->from + 2 || !credentials_here(t, at, STR("eyJ")) || !credentials_starts(t, at))
		return false;
	header = credentials_run(t, at, CH_NAME);
	if (header - at < 12 || !credentials_here(t, header, STR(".eyJ")))
		return false;
	claims = credentials_run(t, header + 1, CH_NAME);
	if (claims - header < 8 || claims >= t.n || t.p[claims] != '.')
		return false;
	end = credentials_run(t, claims + 1, CH_NAME);
	if (end - claims < 11)
		return false;
	return hit(ret, at, end, "jwt");
}

/* 32 hexadecimal digits behind two letters are many things; Twilio's only where its name stands before them. */
bool credentials_token_twilio(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i - 1, end = i + 1, look;

	if (i < s->from + 1 || !(credentials_here(t, at, STR("SK")) || credentials_here(t, at, STR("AC"))))
		return false;
	while (end < t.n && end < at + 36 && is_hex_digit(t.p[end]))
		end++;
	if (end != at + 34 || !credentials_starts(t, at) || (end < t.n && credentials_is(t.p[end], CH_NAME)))
		return false;
	for (look = at > 200 ? at - 200 : 0; look < at; look++)
		if (credentials_here_nocase(t, look, STR("twilio")))
			return hit(ret, at, end, "twilio_key");
	return false;
}

/* 123456789:AA… and 33 more. */
bool credentials_token_telegram(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i, end;

	if (!credentials_here(t, i, STR(":AA")))
		return false;
	while (at > s->from && i - at < 11 && credentials_is(t.p[at - 1], CH_DIGIT))
		at--;
	end = credentials_run(t, i + 1, CH_NAME);
	/* In a URL it stands behind "bot". */
	if (i - at < 8 || i - at > 10 || end - i != 36 ||
	    (!credentials_starts(t, at) && !(at >= 3 && credentials_here(t, at - 3, STR("bot")))))
		return false;
	return credentials_value_is_random(str_sub(t, i + 1, end), 35) && hit(ret, at, end, "telegram_token");
}

bool credentials_token_at(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	const struct {
		const struct form *table;
		size_t count;
	} tables[] = {{UNDERSCORE, COUNT(UNDERSCORE)}, {DASH, COUNT(DASH)}, {DOT, COUNT(DOT)}};

	for (size_t k = 0; k < COUNT(tables); k++)
		for (size_t f = 0; f < tables[k].count; f++) {
			size_t end = match(s->text, i, &tables[k].table[f]);

			if (end)
				return hit(ret, i, end, tables[k].table[f].kind);
		}
	if (is_aws_id(s->text, i))
		return hit(ret, i, i + 20, "aws_access_key");
	return credentials_token_google(s, i + 2, ret) || credentials_token_jwt(s, i + 2, ret) ||
	       credentials_token_twilio(s, i + 1, ret);
}

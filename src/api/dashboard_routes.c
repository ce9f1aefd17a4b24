/* The dashboard: a page for people at "/", made of files that are part of the binary (dashboard.S).
 *
 * The page names its files by the version of all of them, which is a digest of their bytes:
 *
 *     /                              always asked for again, 304 where the version is the same
 *     /assets/9f6c21d0a4b57e38/…     never changes: kept by the browser, not asked for again
 *
 * Each file is kept plain and as gzip; which one is sent depends on Accept-Encoding. The page may load and call only
 * what this server gives, and no other page may frame it.
 */
#include "api/http/http_call.h"
#include "api/routes.h"

extern const char dashboard_version_start[], dashboard_version_end[];
extern const char dashboard_index_start[], dashboard_index_end[];
extern const char dashboard_index_gz_start[], dashboard_index_gz_end[];
extern const char dashboard_script_start[], dashboard_script_end[];
extern const char dashboard_script_gz_start[], dashboard_script_gz_end[];
extern const char dashboard_style_start[], dashboard_style_end[];
extern const char dashboard_style_gz_start[], dashboard_style_gz_end[];

/* Text of agents is shown as text; where that should ever fail, the browser refuses to run or load what it says. */
#define POLICY "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " \
	       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " \
	       "require-trusted-types-for 'script'; trusted-types 'none'"

struct file {
	const char *name;
	const char *type;
	const char *start, *end;
	const char *gz_start, *gz_end;
};

static const struct file page = {
	"", "text/html; charset=utf-8", dashboard_index_start, dashboard_index_end, dashboard_index_gz_start,
	dashboard_index_gz_end,
};

static const struct file assets[] = {
	{"app.js", "text/javascript; charset=utf-8", dashboard_script_start, dashboard_script_end,
	 dashboard_script_gz_start, dashboard_script_gz_end},
	{"app.css", "text/css; charset=utf-8", dashboard_style_start, dashboard_style_end, dashboard_style_gz_start,
	 dashboard_style_gz_end},
};

static struct str version(void)
{
	return (struct str){dashboard_version_start, (size_t)(dashboard_version_end - dashboard_version_start)};
}

/* --- What the browser asked for --- */

/* Is the weight of a coding zero? "0", "0.0", "0.000" are. */
static bool is_refused(struct str parameters)
{
	while (parameters.p) {
		struct str value = str_trim(str_cut(&parameters, ';'));
		struct str name = str_trim(str_cut(&value, '='));

		value = str_trim(value);
		if (!str_ieq(name, STR("q")) || value.n == 0)
			continue;
		for (size_t i = 0; i < value.n; i++)
			if (value.p[i] != '0' && value.p[i] != '.')
				return false;
		return true;
	}
	return false;
}

static bool takes_gzip(struct str accepted)
{
	while (accepted.p) {
		struct str parameters = str_cut(&accepted, ',');
		struct str coding = str_trim(str_cut(&parameters, ';'));

		if (str_ieq(coding, STR("gzip")))
			return !is_refused(parameters);
	}
	return false;
}

/* Does the browser have it already? Either form will do: what they say is the same. */
static bool has_tag(struct str tags, struct str tag)
{
	while (tags.p) {
		struct str one = str_trim(str_cut(&tags, ','));

		if (str_has_prefix(one, STR("W/")))
			one = str_sub(one, 2, one.n);
		if (str_eq(one, tag) || str_is(one, "*"))
			return true;
	}
	return false;
}

/* --- The answer --- */

static const struct http_header *headers(struct call *call, const char *caching, bool is_gzip)
{
	enum { HEADERS_MAX = 8 };
	struct http_header *h = arena_calloc(call->op->arena, HEADERS_MAX, sizeof(*h));
	size_t count = 0;

	h[count++] = (struct http_header){"Cache-Control", str_of(caching)};
	h[count++] = (struct http_header){"Vary", STR("Accept-Encoding")};
	h[count++] = (struct http_header){"Content-Security-Policy", STR(POLICY)};
	h[count++] = (struct http_header){"X-Content-Type-Options", STR("nosniff")};
	h[count++] = (struct http_header){"Referrer-Policy", STR("no-referrer")};
	h[count++] = (struct http_header){"Cross-Origin-Opener-Policy", STR("same-origin")};
	if (is_gzip)
		h[count++] = (struct http_header){"Content-Encoding", STR("gzip")};
	return h;
}

static void give(struct call *call, const struct file *file, const char *caching)
{
	bool is_gzip = takes_gzip(call->beside(call, "accept-encoding"));
	const char *start = is_gzip ? file->gz_start : file->start, *end = is_gzip ? file->gz_end : file->end;

	/* The two forms are different bytes, so each has a tag of its own. */
	call->etag = arena_printf(call->op->arena, "\"%.*s%s\"", STR_ARG(version()), is_gzip ? "-gz" : "");
	if (has_tag(call->beside(call, "if-none-match"), call->etag)) {
		call->status = 304;
		http_call_of(call)->headers = headers(call, caching, false);
		return;
	}
	call->content_type = file->type;
	http_call_of(call)->headers = headers(call, caching, is_gzip);
	buf_share(&call->reply, (struct str){start, (size_t)(end - start)});
}

/* --- GET / --- */

static void encode_page(struct call *call)
{
	give(call, &page, "no-cache");
}

/* --- GET /assets/{version}/{name} --- */

/* Another version's file is not here: a page that is older than the server must be loaded anew, not be mixed. */
static enum problem_code decode_asset(struct call *call)
{
	for (size_t i = 0; i < sizeof(assets) / sizeof(assets[0]); i++) {
		if (!str_eq(call->params[0], version()) || !str_is(call->params[1], assets[i].name))
			continue;
		call->input = (void *)&assets[i];
		return P_OK;
	}
	return call_refuse(call, P_NOT_FOUND, NULL,
			   "there is no such file in this version of the dashboard; load / again");
}

static void encode_asset(struct call *call)
{
	give(call, call->input, "public, max-age=31536000, immutable");
}

const struct route dashboard_routes[] = {
	{HTTP_GET, "/", &nothing_kind, NULL, NULL, encode_page},
	{HTTP_GET, "/assets/{}/{}", &nothing_kind, NULL, decode_asset, encode_asset},
	{0},
};

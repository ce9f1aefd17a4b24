#include "outbound/poster_url.h"

#include "base/mem.h"

#include <curl/curl.h>
#include <string.h>

/* Of libcurl's; NULL where there is none. */
static char *part(CURLU *parts, CURLUPart which)
{
	char *text = NULL;

	curl_url_get(parts, which, &text, 0);
	return text;
}

bool poster_url_parse(const char *text, struct poster_url *ret)
{
	CURLU *parts = curl_url();
	char *scheme, *user, *password;
	bool is_http;

	if (parts == NULL)
		mem_exhausted(0);
	*ret = (struct poster_url){.parts = parts};
	if (curl_url_set(parts, CURLUPART_URL, text, 0) != CURLUE_OK)
		return false;
	scheme = part(parts, CURLUPART_SCHEME);
	user = part(parts, CURLUPART_USER);
	password = part(parts, CURLUPART_PASSWORD);
	ret->host = part(parts, CURLUPART_HOST);
	ret->path = part(parts, CURLUPART_PATH);
	ret->has_user = user || password;
	is_http = scheme && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
	curl_free(scheme);
	curl_free(user);
	curl_free(password);
	return is_http && ret->host && ret->path;
}

char *poster_url_with_path(const struct poster_url *u, const char *path)
{
	char *whole = NULL, *copy = NULL;

	if (curl_url_set(u->parts, CURLUPART_PATH, path, 0) == CURLUE_OK)
		whole = part(u->parts, CURLUPART_URL);
	if (whole)
		copy = mem_strdup(whole);
	curl_free(whole);
	return copy;
}

char *poster_url_origin(const char *text)
{
	static const CURLUPart hidden[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT};
	struct poster_url u;
	char *origin = NULL;

	if (poster_url_parse(text, &u)) {
		for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
			curl_url_set(u.parts, hidden[i], NULL, 0);
		origin = poster_url_with_path(&u, "/");
	}
	poster_url_release(&u);
	return origin ? origin : mem_strdup("");
}

void poster_url_release(struct poster_url *u)
{
	curl_free(u->host);
	curl_free(u->path);
	curl_url_cleanup(u->parts);
}

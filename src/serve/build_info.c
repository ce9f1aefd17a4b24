#include "serve/build_info.h"

#include "codec/json.h"
#include "store/embedded.h"

#include <curl/curl.h>
#include <llhttp.h>
#include <openssl/crypto.h>
#include <spine_build.h>	/* made by the Makefile: commit, compiler, flags */
#include <utf8proc.h>
#include <uv.h>

#define DIGITS(n) #n
#define TEXT(n) DIGITS(n)

const struct build_info build_info = {
	.version = SPINE_VERSION,
	.commit = sizeof(SPINE_COMMIT) > 1 ? SPINE_COMMIT : NULL,
	.compiler = SPINE_COMPILER,
	.flags = SPINE_FLAGS,
};

void build_libraries(struct build_library ret[BUILD_LIBRARIES])
{
	const struct build_library all[BUILD_LIBRARIES] = {
		{"libcurl", curl_version_info(CURLVERSION_NOW)->version},
		{"libuv", uv_version_string()},
		{"llhttp", TEXT(LLHTTP_VERSION_MAJOR) "." TEXT(LLHTTP_VERSION_MINOR) "." TEXT(LLHTTP_VERSION_PATCH)},
		{"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)},
		{"simdjson", json_library_version()},
		{"sqlite", store_library_version()},
		{"utf8proc", utf8proc_version()},
	};

	for (size_t i = 0; i < BUILD_LIBRARIES; i++)
		ret[i] = all[i];
}

#include "cli/shared_options.h"

#define JSON_OPTION \
	{ \
		.name = "json", .type = OPTION_FLAG, \
		.help = "print one JSON document instead of text for people" \
	}

static const struct option common_options[] = {
	{.name = "help", .letter = 'h', .type = OPTION_FLAG, .help = "print this text"},
	{.name = "config", .arg = "FILE", .env = "SPINE_CONFIG", .type = OPTION_PATH,
	 .fallback = "${XDG_CONFIG_HOME:-~/.config}/memory-spine/config",
	 .help = "the configuration file; the default one need not exist"},
};

const struct option_table common_table = {"Common options", common_options, OPTION_COUNT(common_options)};

#define WHERE \
	{.name = "url", .arg = "URL", .env = "SPINE_URL", .key = "url", .type = OPTION_TEXT, \
	 .fallback = "http://127.0.0.1:8788", .help = "the server's address"}, \
	{.name = "key-file", .arg = "FILE", .env = "SPINE_KEY_FILE", .key = "key_file", .type = OPTION_PATH, \
	 .help = "a file of mode 0600 that holds the key, where the server asks for one; SPINE_KEY may hold it, too"}, \
	{.name = "ca-file", .arg = "FILE", .env = "SPINE_CA_FILE", .key = "ca_file", .type = OPTION_PATH, \
	 .help = "of an https:// server: the authorities that are trusted (PEM), instead of the system's"}, \
	{.name = "cert-file", .arg = "FILE", .env = "SPINE_CERT_FILE", .key = "cert_file", .type = OPTION_PATH, \
	 .help = "the client's certificate (PEM), where the server asks for one"}, \
	{.name = "cert-key-file", .arg = "FILE", .env = "SPINE_CERT_KEY_FILE", .key = "cert_key_file", \
	 .type = OPTION_PATH, .help = "its private key, where that is not in the same file"}

#define WHERE_AND_WHO \
	WHERE, \
	{.name = "space", .arg = "NAME", .env = "SPINE_SPACE", .key = "space", .type = OPTION_TEXT, \
	 .help = "the space to work in; the server's is \"default\""}, \
	{.name = "agent", .arg = "NAME", .env = "SPINE_AGENT", .key = "agent", .type = OPTION_TEXT, \
	 .help = "who is calling: the author of what is stored"}

#define TIMEOUT_OPTION \
	{.name = "timeout", .arg = "TIME", .env = "SPINE_TIMEOUT", .key = "timeout", .type = OPTION_DURATION, \
	 .fallback = "30s", .min = 1, .max = 86400000, .help = "how long to wait for an answer"}

static const struct option client_options[] = {WHERE_AND_WHO, TIMEOUT_OPTION, JSON_OPTION};
static const struct option server_options[] = {WHERE, TIMEOUT_OPTION, JSON_OPTION};

const struct option_table client_table = {"Connection and output", client_options, OPTION_COUNT(client_options)};

const struct option_table server_table = {"Connection and output", server_options, OPTION_COUNT(server_options)};

static const struct option untimed_options[] = {WHERE_AND_WHO, JSON_OPTION};

const struct option_table untimed_client_table = {
	"Connection and output", untimed_options, OPTION_COUNT(untimed_options),
};

static const struct option where_options[] = {WHERE_AND_WHO};

const struct option_table where_table = {"Connection", where_options, OPTION_COUNT(where_options)};

static const struct option data_options[] = {DATA_OPTION};

const struct option_table data_table = {"Data", data_options, OPTION_COUNT(data_options)};

static const struct option json_options[] = {
	JSON_OPTION,
};

const struct option_table json_table = {"Output", json_options, OPTION_COUNT(json_options)};

const char *const importance_choices[] = {"low", "medium", "high", "critical", NULL};
const char *const trust_choices[] = {"system", "user", "agent", "external", NULL};
const char *const kind_suggestions[] = {"note", "fact", "decision", "observation", "output", NULL};
const char *const tokenizer_choices[] = {"o200k_base", "cl100k_base", "estimate", NULL};

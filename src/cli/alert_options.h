/* The options of `spine serve` that say when alerts fire. */
#ifndef SPINE_CLI_ALERT_OPTIONS_H
#define SPINE_CLI_ALERT_OPTIONS_H

#include "base/options.h"
#include "serve/serve.h"

extern const struct option_table alert_table;

struct serve_alerts alert_options_read(const struct options *o);

#endif

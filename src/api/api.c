#include "api/api.h"

#include "net/http.h"

bool api_is_ending(const struct api *api)
{
	return http_server_is_draining(api->http) || atomic_load(&api->engine->draining);
}

struct engine_reader *api_reader(struct api *api, int thread)
{
	struct buf error;

	if (api->readers[thread])
		return api->readers[thread];
	buf_init(&error, 4096);
	api->readers[thread] = engine_reader_open(api->engine, &error);
	if (api->readers[thread] == NULL)
		log_write(api->log, LOG_ERROR, "cannot read the store", LOG_SLICE("error", buf_str(&error)));
	buf_release(&error);
	return api->readers[thread];
}

void api_reader_close(struct api *api, int thread)
{
	engine_reader_close(api->readers[thread]);
	api->readers[thread] = NULL;
}

#include "api/mcp/fixture.h"

bool fixture_is_on(void)
{
	return false;
}

mcp_method_fn *fixture_method(const struct mcp_call *m)
{
	(void)m;
	return NULL;
}

bool fixture_tool(struct mcp_call *m, struct str name)
{
	(void)m;
	(void)name;
	return false;
}

bool fixture_resource(struct mcp_call *m, struct str uri)
{
	return fixture_tool(m, uri);
}

bool fixture_prompt(struct mcp_call *m, struct str name)
{
	return fixture_tool(m, name);
}

bool fixture_watches(struct str uri)
{
	(void)uri;
	return false;
}

void fixture_put_tools(struct json_writer *w)
{
	(void)w;
}

void fixture_put_resources(struct json_writer *w)
{
	(void)w;
}

void fixture_put_templates(struct json_writer *w)
{
	(void)w;
}

void fixture_put_prompts(struct json_writer *w)
{
	(void)w;
}

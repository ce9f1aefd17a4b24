/* What the conformance suite (npm @modelcontextprotocol/conformance) wants a server to have, so that it can try the
 * protocol itself: tools, resources and prompts of these names, with these answers. A part of build/fixture/spine only.
 * In texts of JSON ' stands for ". */
#include "api/mcp/fixture.h"

#include "api/describe/schema.h"
#include "api/mcp/ask.h"
#include "api/mcp/listen.h"

#include <stdio.h>

#define PNG "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
#define WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
#define TEXT(t) "'content':[{'type':'text','text':'" t "'}]"
#define NO_ARGS "{'type':'object','properties':{}}"

bool fixture_is_on(void)
{
	return true;
}

static void answer(struct mcp_call *m, const char *members)
{
	schema_put_members(mcp_begin(m), members);
	mcp_end(m);
}

static void answer_text(struct mcp_call *m, const char *before, struct str value)
{
	struct json_writer *w = mcp_begin(m);
	char text[512];

	snprintf(text, sizeof(text), "%s%.*s", before, (int)(value.n < 200 ? value.n : 200), value.p ? value.p : "");
	json_key(w, "content");
	json_begin_array(w);
	json_begin_object(w);
	json_member_cstr(w, "type", "text");
	json_member_cstr(w, "text", text);
	json_end_object(w);
	json_end_array(w);
	mcp_end(m);
}

/* --- Asking: a form, the client's model, its roots --- */

#define FORM(key, type) \
	"'requestedSchema':{'type':'object','properties':{'" key "':{'type':'" type "'}},'required':['" key "']}"
#define ASK_NAME "{'message':'What is your name?'," FORM("name", "string") "}"
#define ASK_OK "{'message':'Please confirm'," FORM("ok", "boolean") "}"
#define ASK_MODEL(text) \
	"{'messages':[{'role':'user','content':{'type':'text','text':'" text "'}}],'maxTokens':100}"

static void add(struct mcp_call *m, const char *key, const char *method, const char *params)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, 65536);
	json_writer_init(&w, &text);
	schema_put_value(&w, params);
	ask_add(m, key, method, buf_str(&text));
	buf_release(&text);
}

static void ask_one(struct mcp_call *m, const char *key, const char *method, const char *params, const char *state)
{
	ask_begin(m);
	add(m, key, method, params);
	ask_end(m, state ? str_of(state) : STR_NULL);
}

static struct str said(const struct mcp_call *m, const char *key, const char *field)
{
	const struct json *value = json_get(json_get(ask_input(m, key), "content"), field);

	return value && value->type == JSON_STRING ? value->s : STR("unknown");
}

static void ask_name(struct mcp_call *m)
{
	if (ask_input(m, "user_name"))
		answer_text(m, "Hello, ", said(m, "user_name", "name"));
	else
		ask_one(m, "user_name", "elicitation/create", ASK_NAME, NULL);
}

static void ask_sampling(struct mcp_call *m)
{
	if (ask_input(m, "capital_question"))
		answer_text(m, "Sampling result: ", said(m, "capital_question", "text"));
	else
		ask_one(m, "capital_question", "sampling/createMessage", ASK_MODEL("What is the capital of France?"),
			NULL);
}

static void ask_roots(struct mcp_call *m)
{
	if (ask_input(m, "client_roots"))
		answer(m, TEXT("roots-ok"));
	else
		ask_one(m, "client_roots", "roots/list", "{}", NULL);
}

static void ask_with_state(struct mcp_call *m)
{
	if (ask_input(m, "confirm") && str_is(m->state, "request-state"))
		answer(m, TEXT("state-ok"));
	else
		ask_one(m, "confirm", "elicitation/create", ASK_OK, "request-state");
}

static void ask_several(struct mcp_call *m)
{
	if (m->state.p && ask_input(m, "user_name") && ask_input(m, "greeting") && ask_input(m, "client_roots")) {
		answer(m, TEXT("all answered"));
		return;
	}
	ask_begin(m);
	add(m, "user_name", "elicitation/create", ASK_NAME);
	add(m, "greeting", "sampling/createMessage", ASK_MODEL("Generate a greeting"));
	add(m, "client_roots", "roots/list", "{}");
	ask_end(m, STR("several"));
}

static void ask_twice(struct mcp_call *m)
{
	if (str_is(m->state, "2") && ask_input(m, "step2"))
		answer(m, TEXT("both rounds are over"));
	else if (str_is(m->state, "1") && ask_input(m, "step1"))
		ask_one(m, "step2", "elicitation/create", "{'message':'Step 2: What is your favorite color?',"
			FORM("color", "string") "}", "2");
	else
		ask_one(m, "step1", "elicitation/create", "{'message':'Step 1: What is your name?',"
			FORM("name", "string") "}", "1");
}

static void ask_what_can_be(struct mcp_call *m)
{
	if (m->input_count) {
		answer(m, TEXT("capabilities-ok"));
		return;
	}
	ask_begin(m);
	if (m->client & MCP_CAN_ELICIT)
		add(m, "elicit_input", "elicitation/create", ASK_NAME);
	if (m->client & MCP_CAN_SAMPLE)
		add(m, "sample_input", "sampling/createMessage", ASK_MODEL("Sample request"));
	ask_end(m, STR("capabilities"));
}

/* With the text that the caller gives. */
static void ask_given(struct mcp_call *m, const char *argument, const char *method, const char *before,
		      const char *after)
{
	const struct json *given = json_get(json_get(m->params, "arguments"), argument);
	struct json_writer w;
	struct buf text;

	buf_init(&text, 65536);
	json_writer_init(&w, &text);
	schema_put_value(&w, before);
	w.comma = false;
	json_put_str(&w, given && given->type == JSON_STRING ? given->s : STR("?"));
	schema_put_value(&w, after);
	ask_begin(m);
	ask_add(m, "given", method, buf_str(&text));
	ask_end(m, STR_NULL);
	buf_release(&text);
}

static void test_sampling(struct mcp_call *m)
{
	if (ask_input(m, "given"))
		answer_text(m, "LLM response: ", said(m, "given", "text"));
	else
		ask_given(m, "prompt", "sampling/createMessage",
			  "{'maxTokens':100,'messages':[{'role':'user','content':{'type':'text','text':", "}}]}");
}

static void answer_action(struct mcp_call *m, const char *key)
{
	const struct json *action = json_get(ask_input(m, key), "action");

	answer_text(m, "User response: action=", action && action->type == JSON_STRING ? action->s : STR("?"));
}

static void test_elicitation(struct mcp_call *m)
{
	if (ask_input(m, "given"))
		answer_action(m, "given");
	else
		ask_given(m, "message", "elicitation/create", "{" FORM("response", "string") ",'message':", "}");
}

static void test_defaults(struct mcp_call *m)
{
	if (ask_input(m, "form"))
		answer_action(m, "form");
	else
		ask_one(m, "form", "elicitation/create",
			"{'message':'Please review','requestedSchema':{'type':'object','properties':{"
			"'name':{'type':'string','default':'John Doe'},'age':{'type':'integer','default':30},"
			"'score':{'type':'number','default':95.5},"
			"'status':{'type':'string','enum':['active','inactive','pending'],'default':'active'},"
			"'verified':{'type':'boolean','default':true}},'required':[]}}", NULL);
}

static void test_enums(struct mcp_call *m)
{
	if (ask_input(m, "form"))
		answer_action(m, "form");
	else
		ask_one(m, "form", "elicitation/create",
			"{'message':'Please select','requestedSchema':{'type':'object','properties':{"
			"'untitledSingle':{'type':'string','enum':['option1','option2','option3']},"
			"'titledSingle':{'type':'string','oneOf':[{'const':'value1','title':'First Option'},"
			"{'const':'value2','title':'Second Option'},{'const':'value3','title':'Third Option'}]},"
			"'legacyEnum':{'type':'string','enum':['opt1','opt2','opt3'],"
			"'enumNames':['Option One','Option Two','Option Three']},"
			"'untitledMulti':{'type':'array','items':{'type':'string',"
			"'enum':['option1','option2','option3']}},"
			"'titledMulti':{'type':'array','items':{'anyOf':[{'const':'value1','title':'First Choice'},"
			"{'const':'value2','title':'Second Choice'},{'const':'value3','title':'Third Choice'}]}}},"
			"'required':[]}}", NULL);
}

/* --- Streams --- */

static void put(struct mcp_call *m, const char *method, const char *params)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, 65536);
	json_writer_init(&w, &text);
	json_begin_object(&w);
	json_member_cstr(&w, "jsonrpc", "2.0");
	json_member_cstr(&w, "method", method);
	json_key(&w, "params");
	json_begin_object(&w);
	schema_put_members(&w, params);
	if (m->progress_token && strcmp(method, "notifications/progress") == 0) {
		json_key(&w, "progressToken");
		json_put(&w, m->progress_token);
	}
	json_end_object(&w);
	json_end_object(&w);
	mcp_stream(m);
	mcp_stream_put(m, buf_str(&text));
	buf_release(&text);
}

static void test_logging(struct mcp_call *m)
{
	static const char *const texts[] = {
		"'level':'info','data':'Tool execution started'", "'level':'info','data':'Tool processing data'",
		"'level':'info','data':'Tool execution completed'",
	};

	for (size_t i = 0; i < 3 && !mcp_is_modern(m); i++)
		put(m, "notifications/message", texts[i]);
	answer(m, TEXT("Tool with logging executed successfully"));
}

static void test_progress(struct mcp_call *m)
{
	if (m->progress_token) {
		put(m, "notifications/progress", "'progress':0,'total':100");
		put(m, "notifications/progress", "'progress':50,'total':100");
		put(m, "notifications/progress", "'progress':100,'total':100");
	}
	answer(m, TEXT("done"));
}

static void test_stream(struct mcp_call *m)
{
	if (ask_input(m, "user_name")) {
		ask_name(m);
		return;
	}
	mcp_stream(m);
	ask_one(m, "user_name", "elicitation/create", ASK_NAME, NULL);
}

static void test_missing(struct mcp_call *m)
{
	if (m->client & MCP_CAN_SAMPLE)
		answer(m, TEXT("Success"));
	else
		mcp_error_data(m, MCP_MISSING_CAPABILITY, STR("{\"requiredCapabilities\":{\"sampling\":{}}}"),
			       "this tool needs a client that can sample");
}

static void change_tools(struct mcp_call *m)
{
	listen_tell_changed(m->mcp, "tools");
	answer(m, TEXT("Mutation triggered"));
}

static void change_prompts(struct mcp_call *m)
{
	listen_tell_changed(m->mcp, "prompts");
	answer(m, TEXT("Mutation triggered"));
}

/* --- The tools --- */

#define JSON_SCHEMA \
	"{'$schema':'https://json-schema.org/draft/2020-12/schema','type':'object','$defs':{'address':{" \
	"'$anchor':'addressDef','type':'object','properties':{'street':{'type':'string'},'city':{'type':'string'}}}}," \
	"'properties':{'name':{'type':'string'},'address':{'$ref':'#/$defs/address'}," \
	"'contactMethod':{'type':'string','enum':['phone','email']},'phone':{'type':'string'}," \
	"'email':{'type':'string'}}," \
	"'allOf':[{'anyOf':[{'required':['phone']},{'required':['email']}]}]," \
	"'if':{'properties':{'contactMethod':{'const':'phone'}},'required':['contactMethod']}," \
	"'then':{'required':['phone']},'else':{'required':['email']},'additionalProperties':false}"

static const struct {
	const char *name;
	const char *members;		/* of its result; NULL: see run */
	mcp_method_fn *run;
	const char *schema;		/* NULL: it takes nothing */
} fixtures[] = {
	{"test_simple_text", TEXT("This is a simple text response for testing."), NULL, NULL},
	{"test_image_content", "'content':[{'type':'image','data':'" PNG "','mimeType':'image/png'}]", NULL, NULL},
	{"test_audio_content", "'content':[{'type':'audio','data':'" WAV "','mimeType':'audio/wav'}]", NULL, NULL},
	{"test_embedded_resource", "'content':[{'type':'resource','resource':{'uri':'test://embedded-resource',"
	 "'mimeType':'text/plain','text':'This is an embedded resource content.'}}]", NULL, NULL},
	{"test_multiple_content_types", "'content':[{'type':'text','text':'Multiple content types test:'},"
	 "{'type':'image','data':'" PNG "','mimeType':'image/png'},{'type':'resource','resource':{"
	 "'uri':'test://mixed-content-resource','mimeType':'application/json','text':'{}'}}]", NULL, NULL},
	{"test_error_handling", TEXT("This tool intentionally returns an error for testing") ",'isError':true", NULL,
	 NULL},
	{"json_schema_2020_12_tool", TEXT("called"), NULL, JSON_SCHEMA},
	{"test_tool_with_logging", NULL, test_logging, NULL},
	{"test_logging_tool", NULL, test_logging, NULL},
	{"test_tool_with_progress", NULL, test_progress, NULL},
	{"test_sampling", NULL, test_sampling, "{'type':'object','properties':{'prompt':{'type':'string'}}}"},
	{"test_elicitation", NULL, test_elicitation, "{'type':'object','properties':{'message':{'type':'string'}}}"},
	{"test_elicitation_sep1034_defaults", NULL, test_defaults, NULL},
	{"test_elicitation_sep1330_enums", NULL, test_enums, NULL},
	{"test_missing_capability", NULL, test_missing, NULL},
	{"test_streaming_elicitation", NULL, test_stream, NULL},
	{"test_trigger_tool_change", NULL, change_tools, NULL},
	{"test_trigger_prompt_change", NULL, change_prompts, NULL},
	{"test_input_required_result_elicitation", NULL, ask_name, NULL},
	{"test_input_required_result_sampling", NULL, ask_sampling, NULL},
	{"test_input_required_result_list_roots", NULL, ask_roots, NULL},
	{"test_input_required_result_request_state", NULL, ask_with_state, NULL},
	{"test_input_required_result_tampered_state", NULL, ask_with_state, NULL},
	{"test_input_required_result_multiple_inputs", NULL, ask_several, NULL},
	{"test_input_required_result_multi_round", NULL, ask_twice, NULL},
	{"test_input_required_result_capabilities", NULL, ask_what_can_be, NULL},
};

bool fixture_tool(struct mcp_call *m, struct str name)
{
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
		if (!str_is(name, fixtures[i].name))
			continue;
		if (fixtures[i].run)
			fixtures[i].run(m);
		else
			answer(m, fixtures[i].members);
		return true;
	}
	return false;
}

void fixture_put_tools(struct json_writer *w)
{
	for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
		json_begin_object(w);
		json_member_cstr(w, "name", fixtures[i].name);
		json_member_cstr(w, "description", "For the conformance suite.");
		json_key(w, "inputSchema");
		schema_put_value(w, fixtures[i].schema ? fixtures[i].schema : NO_ARGS);
		json_end_object(w);
	}
}

/* --- Resources --- */

bool fixture_watches(struct str uri)
{
	return str_has_prefix(uri, STR("test://"));
}

static void answer_contents(struct mcp_call *m, struct str uri, const char *members)
{
	struct json_writer *w = mcp_begin(m);

	json_key(w, "contents");
	json_begin_array(w);
	json_begin_object(w);
	json_member_str(w, "uri", uri);
	schema_put_members(w, members);
	json_end_object(w);
	json_end_array(w);
	mcp_cache(m, 300000, false);
	mcp_end(m);
}

bool fixture_resource(struct mcp_call *m, struct str uri)
{
	static const struct str before = {"test://template/", 16}, after = {"/data", 5};
	char text[256];

	if (str_is(uri, "test://static-text") || str_is(uri, "test://watched-resource")) {
		answer_contents(m, uri, "'mimeType':'text/plain','text':'This is the content of the static text "
				"resource.'");
	} else if (str_is(uri, "test://static-binary")) {
		answer_contents(m, uri, "'mimeType':'image/png','blob':'" PNG "'");
	} else if (uri.n > before.n + after.n && uri.n < 100 && str_has_prefix(uri, before) &&
		   str_has_suffix(uri, after)) {
		struct str id = str_sub(uri, before.n, uri.n - after.n);

		snprintf(text, sizeof(text), "'mimeType':'application/json','text':'{\\'id\\':\\'%.*s\\',"
			 "\\'templateTest\\':true,\\'data\\':\\'Data for ID: %.*s\\'}'", STR_ARG(id), STR_ARG(id));
		answer_contents(m, uri, text);
	} else {
		return false;
	}
	return true;
}

void fixture_put_resources(struct json_writer *w)
{
	schema_put_members(w, "{'uri':'test://static-text','name':'static-text','description':'A static text resource',"
			   "'mimeType':'text/plain'},{'uri':'test://static-binary','name':'static-binary',"
			   "'description':'A static binary resource','mimeType':'image/png'},"
			   "{'uri':'test://watched-resource','name':'watched-resource','description':'A watched "
			   "resource','mimeType':'text/plain'}");
}

void fixture_put_templates(struct json_writer *w)
{
	schema_put_members(w, "{'uriTemplate':'test://template/{id}/data','name':'template','description':'A template',"
			   "'mimeType':'application/json'}");
}

/* --- Prompts --- */

#define USER(content) "{'role':'user','content':" content "}"

static struct str argument(const struct mcp_call *m, const char *name)
{
	const struct json *value = json_get(json_get(m->params, "arguments"), name);

	return value && value->type == JSON_STRING ? value->s : STR("");
}

static void prompt_with_context(struct mcp_call *m)
{
	if (ask_input(m, "user_context"))
		answer(m, "'messages':[" USER("{'type':'text','text':'Prompt with context'}") "]");
	else
		ask_one(m, "user_context", "elicitation/create", "{'message':'What context should the prompt use?',"
			FORM("context", "string") "}", NULL);
}

bool fixture_prompt(struct mcp_call *m, struct str name)
{
	char text[1024];

	if (str_is(name, "test_simple_prompt")) {
		answer(m, "'messages':[" USER("{'type':'text','text':'This is a simple prompt for testing.'}") "]");
	} else if (str_is(name, "test_prompt_with_arguments")) {
		snprintf(text, sizeof(text), "'messages':[" USER("{'type':'text','text':'Prompt with arguments: "
			 "arg1=%.200s, arg2=%.200s'}") "]", argument(m, "arg1").p, argument(m, "arg2").p);
		answer(m, text);
	} else if (str_is(name, "test_prompt_with_embedded_resource")) {
		snprintf(text, sizeof(text), "'messages':[" USER("{'type':'resource','resource':{'uri':'%.300s',"
			 "'mimeType':'text/plain','text':'Embedded resource content for testing.'}}") ","
			 USER("{'type':'text','text':'Please process the embedded resource above.'}") "]",
			 argument(m, "resourceUri").p);
		answer(m, text);
	} else if (str_is(name, "test_prompt_with_image")) {
		answer(m, "'messages':[" USER("{'type':'image','data':'" PNG "','mimeType':'image/png'}") ","
		       USER("{'type':'text','text':'Please analyze the image above.'}") "]");
	} else if (str_is(name, "test_input_required_result_prompt")) {
		prompt_with_context(m);
	} else {
		return false;
	}
	return true;
}

void fixture_put_prompts(struct json_writer *w)
{
	schema_put_members(w, "{'name':'test_simple_prompt','description':'Without arguments'},"
			   "{'name':'test_prompt_with_arguments','description':'With two','arguments':["
			   "{'name':'arg1','description':'First','required':true},"
			   "{'name':'arg2','description':'Second','required':true}]},"
			   "{'name':'test_prompt_with_embedded_resource','description':'With a resource','arguments':["
			   "{'name':'resourceUri','description':'Its address','required':true}]},"
			   "{'name':'test_prompt_with_image','description':'With an image'},"
			   "{'name':'test_input_required_result_prompt','description':'Asks first'}");
}

/* --- Methods --- */

static void set_level(struct mcp_call *m)
{
	mcp_begin(m);
	mcp_end(m);
}

mcp_method_fn *fixture_method(const struct mcp_call *m)
{
	return !mcp_is_modern(m) && str_is(m->method, "logging/setLevel") ? set_level : NULL;
}

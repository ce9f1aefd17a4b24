/* Types with a name of their own in the OpenAPI document. */
#include "api/describe/schema.h"
#include "api/describe/shapes.h"

static const struct field warning_fields[] = {
	DOC_TEXT("code", 0, 0, "For programs."),
	DOC_TEXT("field", 0, 0, "The place in the request."),
	DOC_TEXT("detail", 0, 0, "For people."),
	FIELDS_END,
};
static const struct shape warning = {.fields = warning_fields};

static const struct field origin_fields[] = {
	DOC_TEXT("key", 0, 0, "The id of the key that was used, as in key-7. null: the server asked for none.",
		 NULLABLE),
	DOC_TEXT("protocol", 0, 0, "http, mcp, or transfer: it was moved here from another server."),
	DOC_TEXT("client", 0, 0, "What the caller called itself, which is its own word.", NULLABLE),
	DOC_OBJECT("claimed", "Of what was moved: the origin that the file told. Nobody has checked it.", MAYBE),
	FIELDS_END,
};
static const struct shape origin = {.fields = origin_fields};

#define TYPE(name, says, members) FIELD_ODD(TYPE_ANY, "", says, .component = name, .schema = members)

const struct field schema_types[] = {
	TYPE("HandoffId", NULL, "'type':'string','pattern':'^ho-[1-9][0-9]*$'"),
	TYPE("MemoryId", NULL, "'type':'string','pattern':'^ms-[1-9][0-9]{0,12}$','examples':['ms-4821']"),
	TYPE("MemoryIdOrVersion", NULL,
	     "'type':'string','pattern':'^ms-[1-9][0-9]{0,12}(@[1-9][0-9]{0,9})?$','examples':['ms-4821','ms-4821@2']"),
	TYPE("EnvelopeId", NULL, "'type':'string','pattern':'^env-[1-9][0-9]{0,12}$','examples':['env-17']"),
	TYPE("Lease", "The fencing token that came with the handoff.",
	     "'type':'string','pattern':'^ho-[1-9][0-9]*\\\\.[1-9][0-9]*$'"),
	TYPE("Time", NULL,
	     "'type':'string','format':'date-time',"
	     "'pattern':'^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\\\.[0-9]{3}Z$'"),
	TYPE("Digest", NULL, "'type':'string','pattern':'^sha256:[0-9a-f]{64}$'"),
	TYPE("Step", NULL, "'$ref':'/v1/schemas/envelope-2.json#/$defs/step'"),
	DOC_NUMBER("", 0, 1, NULL, .component = "Share"),
	DOC_NUMBER("", 0, NO_MAX, "null where there is nothing to compute it from.", NULLABLE,
		   .component = "StatsNumber"),
	DOC_TEXT("", 0, 0, "null on the last page.", NULLABLE, .component = "NextPageToken"),
	DOC_SHAPE("", &origin, "Who stored a version of a memory, by which way, as the server saw it.",
		  .component = "Origin"),
	DOC_SHAPES("", 0, &shape_missing, NULL, .component = "NotFound"),
	DOC_SHAPES("", 0, &warning,
		   "What of the request was ignored (unknown_field), and what it did that its sender may not want "
		   "(over_budget). Absent where there is nothing.", .component = "Warnings", .min = 1),
	FIELDS_END,
};

/* Pieces of addresses. */
#include "api/describe/shapes.h"
#include "core/delivery/agent.h"
#include "engine/spaces.h"

const struct field path_memory = DOC_MEMORY_ID("id", "The memory.", .component = "MemoryId");
const struct field path_memory_ref = DOC_MEMORY_REF("id", "ms-4821, or ms-4821@2 for its second version.");
const struct field path_envelope = DOC_ENVELOPE_ID("id", "The envelope.", .component = "EnvelopeId");
const struct field path_other_envelope = DOC_ENVELOPE_ID("other", "The later one.");
const struct field path_task = DOC_TEXT("id", 1, AGENT_NAME_MAX, "The task.", .component = "TaskId");
const struct field path_name = DOC_NAME("name", AGENT_NAME_MAX, "1 to 128 bytes, without control characters.",
					.component = "Name");
const struct field path_space = DOC_NAME("name", SPACE_NAME_MAX, "1 to 64 of a-z, 0-9, '_', '-'.",
					 .names = NAMES_SPACE);
/* The same for one that work can go to; in the OpenAPI document they are one. */
const struct field path_agent = DOC_AGENT("name", "The agent.", .component = "Name", OF_CALLER);
const struct field path_receiver = DOC_AGENT("name", "The agent.", .component = "Name", .called = "agent", OF_CALLER);
const struct field path_queue = DOC_NAME("name", AGENT_NAME_MAX, "1 to 128 bytes, without control characters.",
					 .component = "Name", .called = "agent", OF_INBOX);
const struct field path_handoff = DOC_HANDOFF_ID("id", "The handoff.", .component = "HandoffId");
const struct field path_subscriber = DOC_AGENT("agent", "Who subscribes.", OF_CALLER);
const struct field path_alert = DOC_ALERT_ID("id", "The alert.", .component = "AlertId");
const struct field path_key = DOC_KEY_ID("id", "The key.", .component = "KeyId");
const struct field path_schema = DOC_ENUM("name", &words_schema, 0, "One of those that are listed.");

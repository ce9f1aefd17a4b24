/* Messages of MCP to a whole server: the first byte chooses a revision, the rest is the message. */
#include "fuzz_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const versions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"};
	uint8_t choice = fuzz_choice(&data, &size);
	struct buf request, answer;

	buf_init(&request, 1 << 20);
	buf_init(&answer, FUZZ_ANSWER_MAX);
	buf_printf(&request, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
		   "Content-Type: application/json\r\n"
		   "Accept: application/json%s\r\nMCP-Protocol-Version: %s\r\nContent-Length: %zu\r\n\r\n",
		   choice & 4 ? ", text/event-stream" : "", versions[choice & 3], size);
	buf_append(&request, data, size);
	fuzz_ask(buf_str(&request), &answer);
	buf_release(&request);
	buf_release(&answer);
	return 0;
}

/* Why a text is not JSON, and where: a reader that builds nothing and is only asked about texts that were refused.
 * It knows the rules of json_parse but for duplicate names. Internal to the codec; its tests compare the two readers.
 */
#ifndef SPINE_CODEC_JSON_SCAN_H
#define SPINE_CODEC_JSON_SCAN_H

#include "codec/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True where nothing is wrong with text. Otherwise *ret_error says what is: bytes that are not UTF-8 before all else,
 * then whatever comes first in the text. */
bool json_scan(struct str text, int max_depth, struct json_error *ret_error);

/* The offset of a token of a text in which json_scan finds nothing wrong, or nothing before that token. Every value and
 * every name of a member is a token; they are counted from 0 in the order of the text. 0 where there are fewer. */
size_t json_scan_token(struct str text, uint32_t token);

/* Fills *ret_error: the sentence, without its full stop, gets the line and the column of offset. */
void json_scan_report(struct str text, size_t offset, struct json_error *ret_error, const char *code,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

#ifdef __cplusplus
}
#endif

#endif

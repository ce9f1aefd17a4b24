#include "core/envelope/envelope_id.h"

#include "store/records.h"

bool envelope_id_parse(struct str s, uint64_t *ret)
{
	uint64_t num;

	if (!str_has_prefix(s, STR("env-")) || !str_to_u64(str_sub(s, 4, s.n), &num) || num < 1 || num > MEMORY_NUM_MAX)
		return false;
	*ret = num;
	return true;
}

size_t envelope_id_format(uint64_t num, char ret[ENVELOPE_ID_SIZE])
{
	size_t len = 4;

	memcpy(ret, "env-", len);
	len += str_put_u64(ret + len, num);
	ret[len] = '\0';
	return len;
}

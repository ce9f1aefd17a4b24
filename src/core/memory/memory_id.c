#include "core/memory/memory_id.h"

#include "store/records.h"

#include <assert.h>

bool memory_id_parse(struct str s, struct memory_id *ret)
{
	struct str rest = s;
	struct str id = str_cut(&rest, '@');
	uint64_t num, version = 0;

	if (!str_has_prefix(id, STR("ms-")) || !str_to_u64(str_sub(id, 3, id.n), &num))
		return false;
	if (num < 1 || num > MEMORY_NUM_MAX)
		return false;
	if (id.n < s.n && (!str_to_u64(rest, &version) || version < 1 || version > UINT32_MAX))
		return false;
	*ret = (struct memory_id){num, (uint32_t)version};
	return true;
}

size_t memory_id_format(uint64_t num, uint32_t version, char ret[MEMORY_ID_SIZE])
{
	size_t len = 3;

	assert(num <= MEMORY_NUM_MAX);	/* so that there is room */
	memcpy(ret, "ms-", len);
	len += str_put_u64(ret + len, num);
	if (version) {
		ret[len++] = '@';
		len += str_put_u64(ret + len, version);
	}
	ret[len] = '\0';
	return len;
}

#include "core/delivery/handoff_id.h"

#include "store/records.h"

bool handoff_id_parse(struct str s, uint64_t *ret)
{
	uint64_t num;

	if (!str_has_prefix(s, STR("ho-")) || !str_to_u64(str_sub(s, 3, s.n), &num) || num < 1 || num > MEMORY_NUM_MAX)
		return false;
	*ret = num;
	return true;
}

bool handoff_lease_parse(struct str s, uint64_t *ret_num, int64_t *ret_lease)
{
	struct str id = str_cut(&s, '.');
	uint64_t num;
	int64_t lease;

	if (!handoff_id_parse(id, &num) || s.p == NULL || !str_to_i64(s, &lease) || lease < 1)
		return false;
	*ret_num = num;
	*ret_lease = lease;
	return true;
}

size_t handoff_id_format(uint64_t num, char ret[HANDOFF_ID_SIZE])
{
	size_t len = 3;

	memcpy(ret, "ho-", len);
	len += str_put_u64(ret + len, num);
	ret[len] = '\0';
	return len;
}

size_t handoff_lease_format(uint64_t num, int64_t lease, char ret[HANDOFF_ID_SIZE])
{
	size_t len = handoff_id_format(num, ret);

	ret[len++] = '.';
	if (lease < 0)
		ret[len++] = '-';
	len += str_put_u64(ret + len, lease < 0 ? 0 - (uint64_t)lease : (uint64_t)lease);
	ret[len] = '\0';
	return len;
}

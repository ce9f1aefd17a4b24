/* The table of verbs: what an engine must be able to do, and what every connection begins with.
 *
 * STORE_VERBS lists each verb of store.h once: its kind, type, name, parameters and arguments. The table, the
 * functions that callers use (store.c), the declarations of each engine and the counters of the tests are all made
 * from it. The kinds:
 *
 *   FRAME   what stands around the others: transactions, snapshots
 *   READ    changes nothing
 *   WRITE   stands between store_begin and store_commit
 *   EITHER  a WRITE where it makes what is not there yet
 *
 * Only engines and tests include this file.
 */
#ifndef SPINE_STORE_VERBS_H
#define SPINE_STORE_VERBS_H

#include "store/store.h"

#define STORE_VERBS(X) \
	X(FRAME, enum store_status, info, (struct store_conn *c, struct store_info *ret), (c, ret)) \
	X(FRAME, enum store_status, begin, (struct store_conn *c), (c)) \
	X(FRAME, enum store_status, commit, (struct store_conn *c), (c)) \
	X(FRAME, void, rollback, (struct store_conn *c), (c)) \
	X(FRAME, enum store_status, savepoint, (struct store_conn *c), (c)) \
	X(FRAME, enum store_status, release, (struct store_conn *c), (c)) \
	X(FRAME, enum store_status, rollback_to, (struct store_conn *c), (c)) \
	X(FRAME, bool, snapshot_begin, (struct store_conn *c), (c)) \
	X(FRAME, void, snapshot_end, (struct store_conn *c), (c)) \
	X(READ, enum store_status, space_find, \
	  (struct store_conn *c, struct str name, int64_t *ret_id), (c, name, ret_id)) \
	X(WRITE, enum store_status, space_create, \
	  (struct store_conn *c, struct str name, int64_t now_ms, int64_t *ret_id), (c, name, now_ms, ret_id)) \
	X(READ, enum store_status, space_count, \
	  (struct store_conn *c, int64_t space, int64_t *ret_memories), (c, space, ret_memories)) \
	X(READ, enum store_status, spaces, \
	  (struct store_conn *c, int64_t after, size_t max, struct arena *arena, struct space_row *ret, \
	  size_t *ret_count), (c, after, max, arena, ret, ret_count)) \
	X(READ, enum store_status, space_get, \
	  (struct store_conn *c, int64_t space, struct arena *arena, struct space_row *ret), (c, space, arena, ret)) \
	X(WRITE, enum store_status, space_set_keep, \
	  (struct store_conn *c, int64_t space, const struct space_keep *keep), (c, space, keep)) \
	X(WRITE, enum store_status, space_set_quota, \
	  (struct store_conn *c, int64_t space, const struct space_quota *quota), (c, space, quota)) \
	X(WRITE, enum store_status, space_set_floor, \
	  (struct store_conn *c, int64_t space, enum trust floor), (c, space, floor)) \
	X(WRITE, enum store_status, space_remove, \
	  (struct store_conn *c, int64_t space, int64_t now_ms), (c, space, now_ms)) \
	X(READ, enum store_status, space_removed, (struct store_conn *c, int64_t *ret_id), (c, ret_id)) \
	X(WRITE, enum store_status, space_purge, \
	  (struct store_conn *c, int64_t space, size_t max, size_t *ret_count), (c, space, max, ret_count)) \
	X(READ, enum store_status, space_guard, \
	  (struct store_conn *c, int64_t space, int64_t *ret_guard), (c, space, ret_guard)) \
	X(WRITE, enum store_status, space_set_guard, \
	  (struct store_conn *c, int64_t space, int64_t guard), (c, space, guard)) \
	X(READ, enum store_status, space_locked, \
	  (struct store_conn *c, int64_t space, struct arena *arena, struct str *ret), (c, space, arena, ret)) \
	X(WRITE, enum store_status, space_set_locked, \
	  (struct store_conn *c, int64_t space, struct str locked), (c, space, locked)) \
	X(READ, enum store_status, memory_next, \
	  (struct store_conn *c, int64_t space, uint64_t *ret), (c, space, ret)) \
	X(WRITE, enum store_status, memory_insert, (struct store_conn *c, struct memory *m), (c, m)) \
	X(WRITE, enum store_status, memory_add_version, \
	  (struct store_conn *c, const struct memory *m), (c, m)) \
	X(WRITE, enum store_status, memory_set_pinned, \
	  (struct store_conn *c, int64_t space, uint64_t num, bool pinned), (c, space, num, pinned)) \
	X(WRITE, enum store_status, memory_set_superseded, \
	  (struct store_conn *c, int64_t space, uint64_t num, uint64_t by), (c, space, num, by)) \
	X(WRITE, enum store_status, memory_set_quarantined, \
	  (struct store_conn *c, int64_t space, uint64_t num, int64_t at_ms), (c, space, num, at_ms)) \
	X(READ, enum store_status, memories_quarantined, \
	  (struct store_conn *c, int64_t space, uint64_t after, size_t max, struct arena *arena, \
	  struct memory *ret, size_t *ret_count), (c, space, after, max, arena, ret, ret_count)) \
	X(WRITE, enum store_status, memory_forget, \
	  (struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms), (c, space, num, now_ms)) \
	X(WRITE, enum store_status, memory_set_keys, \
	  (struct store_conn *c, int64_t space, uint64_t num, struct str keys), (c, space, num, keys)) \
	X(READ, enum store_status, memory_get, \
	  (struct store_conn *c, int64_t space, uint64_t num, uint32_t version, struct arena *arena, \
	  struct memory *ret), (c, space, num, version, arena, ret)) \
	X(READ, enum store_status, memory_versions, \
	  (struct store_conn *c, int64_t space, uint64_t num, uint32_t below, size_t max, struct arena *arena, \
	  struct memory *ret, size_t *ret_count), (c, space, num, below, max, arena, ret, ret_count)) \
	X(READ, enum store_status, memory_scan, \
	  (struct store_conn *c, int64_t space, uint64_t after, size_t max, struct arena *arena, \
	  struct memory *ret, size_t *ret_count), (c, space, after, max, arena, ret, ret_count)) \
	X(READ, enum store_status, memories_traced, \
	  (struct store_conn *c, int64_t space, uint64_t after, size_t max, struct arena *arena, \
	  struct memory *ret, size_t *ret_count), (c, space, after, max, arena, ret, ret_count)) \
	X(WRITE, enum store_status, envelope_insert, \
	  (struct store_conn *c, const struct envelope_row *row), (c, row)) \
	X(READ, enum store_status, envelope_get, \
	  (struct store_conn *c, int64_t space, uint64_t num, struct arena *arena, struct envelope_row *ret), \
	  (c, space, num, arena, ret)) \
	X(READ, enum store_status, envelope_considered, \
	  (struct store_conn *c, int64_t space, uint64_t num, struct arena *arena, struct str *ret), (c, \
	  space, num, arena, ret)) \
	X(READ, enum store_status, envelope_last, \
	  (struct store_conn *c, int64_t space, uint64_t *ret_num), (c, space, ret_num)) \
	X(READ, enum store_status, envelope_next, \
	  (struct store_conn *c, int64_t space, uint64_t after, uint64_t *ret_num), (c, space, after, ret_num)) \
	X(READ, enum store_status, task_envelopes, \
	  (struct store_conn *c, int64_t space, struct str task, uint64_t after, size_t max, \
	  struct arena *arena, struct envelope_row *ret, size_t *ret_count), (c, space, task, after, max, \
	  arena, ret, ret_count)) \
	X(READ, enum store_status, task_find, \
	  (struct store_conn *c, int64_t space, struct str task), (c, space, task)) \
	X(READ, enum store_status, task_last, \
	  (struct store_conn *c, int64_t space, struct str task, struct arena *arena, \
	  struct envelope_row *ret), (c, space, task, arena, ret)) \
	X(READ, enum store_status, task_links, \
	  (struct store_conn *c, int64_t space, struct str task, uint64_t after, size_t max, \
	  struct envelope_link *ret, size_t *ret_count), (c, space, task, after, max, ret, ret_count)) \
	X(WRITE, enum store_status, waiver_add, \
	  (struct store_conn *c, int64_t space, struct str task, struct waiver_row *waiver), (c, space, task, \
	  waiver)) \
	X(READ, enum store_status, waivers, \
	  (struct store_conn *c, int64_t space, struct str task, size_t max, struct arena *arena, \
	  struct waiver_row *ret, size_t *ret_count), (c, space, task, max, arena, ret, ret_count)) \
	X(READ, enum store_status, tasks, \
	  (struct store_conn *c, int64_t space, int64_t before, size_t max, struct arena *arena, \
	  struct task_row *ret, size_t *ret_count), (c, space, before, max, arena, ret, ret_count)) \
	X(READ, enum store_status, task_get, \
	  (struct store_conn *c, int64_t id, struct arena *arena, struct task_row *ret), (c, id, arena, ret)) \
	X(READ, enum store_status, task_work, \
	  (struct store_conn *c, int64_t id, struct arena *arena, struct task_work *ret), (c, id, arena, ret)) \
	X(READ, enum store_status, tasks_changed, \
	  (struct store_conn *c, int64_t space, int64_t before, int64_t after, size_t max, \
	  struct task_place *ret, size_t *ret_count), (c, space, before, after, max, ret, ret_count)) \
	X(READ, enum store_status, tasks_open, \
	  (struct store_conn *c, int64_t space, unsigned states, int64_t agent, \
	  const struct task_place *behind, size_t max, struct task_place *ret, size_t *ret_count), \
	  (c, space, states, agent, behind, max, ret, ret_count)) \
	X(READ, enum store_status, task_is_quiet, \
	  (struct store_conn *c, int64_t space, int64_t id, int64_t since, int64_t until_ms, bool *ret), \
	  (c, space, id, since, until_ms, ret)) \
	X(READ, enum store_status, tasks_matching, \
	  (struct store_conn *c, int64_t space, struct str text, size_t look, size_t max, \
	  struct task_place *ret, size_t *ret_count, bool *ret_more), \
	  (c, space, text, look, max, ret, ret_count, ret_more)) \
	X(WRITE, enum store_status, receipt_put, \
	  (struct store_conn *c, int64_t space, uint64_t envelope, const struct receipt_row *receipt), (c, \
	  space, envelope, receipt)) \
	X(READ, enum store_status, receipts, \
	  (struct store_conn *c, int64_t space, uint64_t envelope, size_t max, struct arena *arena, \
	  struct receipt_row *ret, size_t *ret_count), (c, space, envelope, max, arena, ret, ret_count)) \
	X(READ, enum store_status, envelope_ended, \
	  (struct store_conn *c, int64_t space, uint64_t num, unsigned states, int64_t before_ms, bool *ret), \
	  (c, space, num, states, before_ms, ret)) \
	X(WRITE, enum store_status, envelope_prune, \
	  (struct store_conn *c, int64_t space, uint64_t num, int64_t *ret_handoffs), (c, space, num, ret_handoffs)) \
	X(READ, enum store_status, pruned_envelope, \
	  (struct store_conn *c, int64_t space, uint64_t num, struct pruned_envelope *ret), (c, space, num, ret)) \
	X(READ, enum store_status, pruned_handoff, \
	  (struct store_conn *c, int64_t space, uint64_t num, struct pruned_handoff *ret), (c, space, num, ret)) \
	X(WRITE, enum store_status, pruned_envelope_put, \
	  (struct store_conn *c, int64_t space, const struct pruned_envelope *left), (c, space, left)) \
	X(WRITE, enum store_status, pruned_handoff_put, \
	  (struct store_conn *c, int64_t space, const struct pruned_handoff *left), (c, space, left)) \
	X(READ, enum store_status, citations, \
	  (struct store_conn *c, int64_t space, uint64_t envelope, size_t max, uint64_t *ret, size_t *ret_count), \
	  (c, space, envelope, max, ret, ret_count)) \
	X(READ, enum store_status, cited_by, \
	  (struct store_conn *c, int64_t space, uint64_t memory, uint64_t but, uint64_t *ret_num), \
	  (c, space, memory, but, ret_num)) \
	X(WRITE, enum store_status, result_leave, \
	  (struct store_conn *c, int64_t space, uint64_t memory), (c, space, memory)) \
	X(READ, enum store_status, result_left, \
	  (struct store_conn *c, int64_t space, uint64_t memory), (c, space, memory)) \
	X(WRITE, enum store_status, memory_prune, \
	  (struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms), (c, space, num, now_ms)) \
	X(WRITE, enum store_status, give_back, (struct store_conn *c, int64_t *ret_bytes), (c, ret_bytes)) \
	X(WRITE, enum store_status, events_prune, \
	  (struct store_conn *c, int64_t space, const int64_t *numbers, size_t count), \
	  (c, space, numbers, count)) \
	X(READ, enum store_status, agent_get, \
	  (struct store_conn *c, int64_t space, struct str name, struct arena *arena, struct agent_row *ret), \
	  (c, space, name, arena, ret)) \
	X(WRITE, enum store_status, agent_put, \
	  (struct store_conn *c, int64_t space, const struct agent_row *agent), (c, space, agent)) \
	X(WRITE, enum store_status, agent_delete, \
	  (struct store_conn *c, int64_t space, struct str name), (c, space, name)) \
	X(READ, enum store_status, agents, \
	  (struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena, \
	  struct agent_row *ret, size_t *ret_count), (c, space, after, max, arena, ret, ret_count)) \
	X(READ, enum store_status, agents_holding, \
	  (struct store_conn *c, struct str text, int64_t after, size_t max, struct arena *arena, \
	  struct agent_place *ret, size_t *ret_count), (c, text, after, max, arena, ret, ret_count)) \
	X(EITHER, enum store_status, agent_id, \
	  (struct store_conn *c, int64_t space, struct str name, bool make, int64_t now_ms, int64_t *ret), (c, \
	  space, name, make, now_ms, ret)) \
	X(READ, enum store_status, target_get, \
	  (struct store_conn *c, int64_t agent, struct target_row *ret), (c, agent, ret)) \
	X(WRITE, enum store_status, target_put, \
	  (struct store_conn *c, int64_t agent, const struct target_row *target), (c, agent, target)) \
	X(READ, enum store_status, target_busy_until, \
	  (struct store_conn *c, int64_t agent, int64_t *ret_ms), (c, agent, ret_ms)) \
	X(READ, enum store_status, target_due, \
	  (struct store_conn *c, int64_t now_ms, struct arena *arena, struct target_due *ret), (c, now_ms, \
	  arena, ret)) \
	X(READ, enum store_status, target_next_due, (struct store_conn *c, int64_t *ret_ms), (c, ret_ms)) \
	X(READ, enum store_status, targets_failing, \
	  (struct store_conn *c, int64_t space, size_t max, struct arena *arena, struct target_due *ret, \
	  size_t *ret_count), (c, space, max, arena, ret, ret_count)) \
	X(READ, enum store_status, target_counts, \
	  (struct store_conn *c, int64_t agent, struct target_counts *ret), (c, agent, ret)) \
	X(WRITE, enum store_status, handoff_insert, (struct store_conn *c, struct handoff_row *h), (c, h)) \
	X(WRITE, enum store_status, handoff_put, (struct store_conn *c, const struct handoff_row *h), (c, h)) \
	X(READ, enum store_status, handoff_get, \
	  (struct store_conn *c, int64_t space, uint64_t num, struct arena *arena, struct handoff_row *ret), \
	  (c, space, num, arena, ret)) \
	X(READ, enum store_status, handoff_find, \
	  (struct store_conn *c, int64_t space, uint64_t envelope, int64_t target, struct arena *arena, \
	  struct handoff_row *ret), (c, space, envelope, target, arena, ret)) \
	X(READ, enum store_status, handoff_of_agent, \
	  (struct store_conn *c, int64_t space, uint64_t envelope, int64_t agent, uint64_t but, \
	  uint64_t *ret_num), (c, space, envelope, agent, but, ret_num)) \
	X(READ, enum store_status, handoff_next, \
	  (struct store_conn *c, int64_t agent, bool passing, struct arena *arena, struct handoff_row *ret), \
	  (c, agent, passing, arena, ret)) \
	X(READ, enum store_status, handoff_last, \
	  (struct store_conn *c, int64_t space, uint64_t *ret_num), (c, space, ret_num)) \
	X(READ, enum store_status, handoffs_outage, \
	  (struct store_conn *c, int64_t agent, int64_t from_ms, int64_t to_ms, size_t max, \
	  struct arena *arena, struct handoff_row *ret, size_t *ret_count), (c, agent, from_ms, to_ms, max, \
	  arena, ret, ret_count)) \
	X(READ, enum store_status, handoffs_held, \
	  (struct store_conn *c, int64_t agent, struct str receiver, size_t max, struct arena *arena, \
	  struct handoff_row *ret, size_t *ret_count), (c, agent, receiver, max, arena, ret, ret_count)) \
	X(READ, enum store_status, handoff_due, \
	  (struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *ret), (c, now_ms, \
	  arena, ret)) \
	X(READ, enum store_status, handoff_next_due, (struct store_conn *c, int64_t *ret_ms), (c, ret_ms)) \
	X(READ, enum store_status, handoffs, \
	  (struct store_conn *c, const struct handoff_filter *filter, uint64_t after, size_t max, \
	  struct arena *arena, struct handoff_row *ret, size_t *ret_count), (c, filter, after, max, arena, \
	  ret, ret_count)) \
	X(READ, enum store_status, handoffs_count, \
	  (struct store_conn *c, const struct handoff_filter *filter, int64_t *ret), (c, filter, ret)) \
	X(READ, enum store_status, handoffs_queued, \
	  (struct store_conn *c, int64_t agent, const struct handoff_row *behind, size_t max, \
	  struct arena *arena, struct handoff_row *ret, size_t *ret_count), (c, agent, behind, max, \
	  arena, ret, ret_count)) \
	X(READ, enum store_status, handoffs_flight, \
	  (struct store_conn *c, int64_t agent, unsigned states, uint64_t after, size_t max, \
	  struct arena *arena, struct handoff_row *ret, size_t *ret_count), (c, agent, states, after, max, \
	  arena, ret, ret_count)) \
	X(WRITE, enum store_status, result_put, \
	  (struct store_conn *c, int64_t space, uint64_t handoff, const struct result_row *result), (c, space, \
	  handoff, result)) \
	X(READ, enum store_status, result_get, \
	  (struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena, \
	  struct result_row *ret), (c, space, handoff, arena, ret)) \
	X(WRITE, enum store_status, result_hand_on, \
	  (struct store_conn *c, int64_t space, uint64_t handoff, uint64_t then, const uint8_t digest[32]), \
	  (c, space, handoff, then, digest)) \
	X(READ, enum store_status, result_find, \
	  (struct store_conn *c, int64_t space, uint64_t handoff, struct result_row *ret), (c, space, handoff, \
	  ret)) \
	X(WRITE, enum store_status, event_add, (struct store_conn *c, struct event_row *event), (c, event)) \
	X(READ, enum store_status, events, \
	  (struct store_conn *c, int64_t space, uint64_t handoff, int64_t after, size_t max, \
	  struct arena *arena, struct event_row *ret, size_t *ret_count), (c, space, handoff, after, max, \
	  arena, ret, ret_count)) \
	X(READ, enum store_status, event_last, \
	  (struct store_conn *c, int64_t space, int64_t *ret_place), (c, space, ret_place)) \
	X(READ, enum store_status, event_page, \
	  (struct store_conn *c, const struct event_filter *filter, int64_t after, int64_t until, size_t max, \
	  struct arena *arena, struct event_row *ret, size_t *ret_count), (c, filter, after, until, max, \
	  arena, ret, ret_count)) \
	X(WRITE, enum store_status, events_unname, \
	  (struct store_conn *c, const struct event_filter *filter, int64_t after, int64_t until), (c, filter, after, \
	  until)) \
	X(READ, enum store_status, event_count, \
	  (struct store_conn *c, int64_t space, uint64_t handoff, int64_t *ret), (c, space, handoff, ret)) \
	X(READ, enum store_status, event_before, \
	  (struct store_conn *c, int64_t space, int64_t at_ms, int64_t *ret_place), (c, space, at_ms, ret_place)) \
	X(READ, enum store_status, queues, \
	  (struct store_conn *c, void (*fn)(void *ctx, const struct queue_row *row), void *ctx), (c, fn, ctx)) \
	X(READ, enum store_status, space_name, \
	  (struct store_conn *c, int64_t space, struct arena *arena, struct str *ret), (c, space, arena, ret)) \
	X(WRITE, enum store_status, alert_put, (struct store_conn *c, struct alert_row *alert), (c, alert)) \
	X(READ, enum store_status, alert_get, \
	  (struct store_conn *c, int64_t id, struct arena *arena, struct alert_row *ret), (c, id, arena, ret)) \
	X(READ, enum store_status, alert_last, \
	  (struct store_conn *c, int64_t space, struct str name, struct str agent, struct arena *arena, \
	  struct alert_row *ret), (c, space, name, agent, arena, ret)) \
	X(READ, enum store_status, alerts, \
	  (struct store_conn *c, int64_t space, enum alerts_wanted wanted, int64_t before, size_t max, \
	  struct arena *arena, struct alert_row *ret, size_t *ret_count), (c, space, wanted, before, max, \
	  arena, ret, ret_count)) \
	X(WRITE, enum store_status, channel_put, \
	  (struct store_conn *c, int64_t space, struct str name, struct str description, int64_t now_ms), (c, \
	  space, name, description, now_ms)) \
	X(READ, enum store_status, channel_get, \
	  (struct store_conn *c, int64_t space, struct str name, struct arena *arena, \
	  struct channel_row *ret), (c, space, name, arena, ret)) \
	X(READ, enum store_status, channels, \
	  (struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena, \
	  struct channel_row *ret, size_t *ret_count), (c, space, after, max, arena, ret, ret_count)) \
	X(WRITE, enum store_status, subscriber_put, \
	  (struct store_conn *c, int64_t channel, int64_t agent, int64_t now_ms), (c, channel, agent, now_ms)) \
	X(WRITE, enum store_status, subscriber_delete, \
	  (struct store_conn *c, int64_t channel, int64_t agent), (c, channel, agent)) \
	X(READ, enum store_status, subscribers, \
	  (struct store_conn *c, int64_t channel, size_t max, struct arena *arena, struct str *ret, \
	  size_t *ret_count), (c, channel, max, arena, ret, ret_count)) \
	X(WRITE, enum store_status, route_put, \
	  (struct store_conn *c, int64_t space, const struct route_row *route), (c, space, route)) \
	X(WRITE, enum store_status, route_delete, \
	  (struct store_conn *c, int64_t space, struct str name), (c, space, name)) \
	X(READ, enum store_status, routes, \
	  (struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena, \
	  struct route_row *ret, size_t *ret_count), (c, space, after, max, arena, ret, ret_count)) \
	X(READ, enum store_status, reply_get, \
	  (struct store_conn *c, int64_t space, struct str key, struct arena *arena, struct kept_reply *ret), \
	  (c, space, key, arena, ret)) \
	X(WRITE, enum store_status, reply_put, \
	  (struct store_conn *c, int64_t space, struct str key, const struct kept_reply *reply, const \
	  uint64_t *memories, size_t memory_count), (c, space, key, reply, memories, memory_count)) \
	X(READ, enum store_status, reply_oldest, (struct store_conn *c, int64_t *ret_ms), (c, ret_ms)) \
	X(WRITE, enum store_status, reply_prune, \
	  (struct store_conn *c, int64_t before_ms, int max), (c, before_ms, max)) \
	X(READ, enum store_status, access_mode, (struct store_conn *c, bool *ret_needs_key), (c, ret_needs_key)) \
	X(WRITE, enum store_status, access_set_mode, (struct store_conn *c, bool needs_key), (c, needs_key)) \
	X(READ, enum store_status, access_key_next, (struct store_conn *c, uint64_t *ret), (c, ret)) \
	X(WRITE, enum store_status, access_key_insert, \
	  (struct store_conn *c, const struct access_key_row *key), (c, key)) \
	X(WRITE, enum store_status, access_key_put, \
	  (struct store_conn *c, const struct access_key_row *key), (c, key)) \
	X(READ, enum store_status, access_key_get, \
	  (struct store_conn *c, uint64_t num, struct arena *arena, struct access_key_row *ret), \
	  (c, num, arena, ret)) \
	X(READ, enum store_status, access_keys, \
	  (struct store_conn *c, struct str space, uint64_t after, size_t max, struct arena *arena, \
	  struct access_key_row *ret, size_t *ret_count), (c, space, after, max, arena, ret, ret_count)) \
	X(WRITE, enum store_status, access_keys_revoke, \
	  (struct store_conn *c, struct str space, int64_t at_ms, struct str why, int64_t *ret_count), \
	  (c, space, at_ms, why, ret_count)) \
	X(WRITE, enum store_status, access_keys_prune, (struct store_conn *c, int64_t before_ms), (c, before_ms)) \
	X(WRITE, enum store_status, access_reset, (struct store_conn *c), (c))

struct store_verbs {
	/* Rolls back what is open, and frees. */
	void (*close)(struct store_conn *c);
#define STORE_VERB_POINTER(kind, type, name, params, args) type (*name) params;
	STORE_VERBS(STORE_VERB_POINTER)
#undef STORE_VERB_POINTER
};

/* What embedded.h promises. NULL stands for what the engine cannot do. */
struct store_embedded {
	void (*share)(struct store_conn *reader, const struct store_conn *writer);
	void (*set_cache)(struct store_conn *writer, size_t max_bytes);
	size_t (*cache_bytes)(const struct store_conn *writer);
	void (*set_direct)(struct store_conn *c, bool is_direct);
	enum store_status (*backup)(struct store_conn *c, const char *file, struct buf *error);
	enum store_status (*check)(struct store_conn *c, struct store_check *ret, struct buf *ret_problems);
};

/* The beginning of every engine's connection. */
struct store_conn {
	const struct store_verbs *verbs;
	const struct store_embedded *embedded;
	bool is_reader;
	bool is_served;			/* by a database that is no part of this process */
	bool is_failed;			/* the disk failed: no further transaction */
	_Atomic bool is_lost;		/* it writes what is another's now; any thread may look */
	/* The engine calls it for each event that it has added. May be NULL. */
	void (*event_added)(void *ctx, const struct event_row *event);
	void *event_ctx;
	char error[256];		/* of the last failure */
};

#endif

/* The enumerations of the protocol. */
#ifndef SPINE_API_DESCRIBE_WORDS_H
#define SPINE_API_DESCRIBE_WORDS_H

#include "api/describe/describe.h"

extern const struct words words_importance;
extern const struct words words_trust;
extern const struct words words_tokenizer;
extern const struct words words_guard;
extern const struct words words_memory_state;
extern const struct words words_searched_state;
extern const struct words words_not_found;
extern const struct words words_newest_oldest;
extern const struct words words_oldest_newest;
extern const struct words words_of_no_task;
extern const struct words words_scope;
extern const struct words words_strategy;
extern const struct words words_fetch;
extern const struct words words_envelope_form;
extern const struct words words_received_form;
extern const struct words words_why;
extern const struct words words_fate;
extern const struct words words_left_out;
extern const struct words words_trimmed_form;
extern const struct words words_verdict;
extern const struct words words_change_kind;
extern const struct words words_change_fate;
extern const struct words words_blamed_fate;
extern const struct words words_blame;
extern const struct words words_handoff_state;
extern const struct words words_handoff_state_asked;
extern const struct words words_result_forgotten;
extern const struct words words_task_state;
extern const struct words words_task_state_asked;
extern const struct words words_presence;
extern const struct words words_queue_why;
extern const struct words words_attempt;
extern const struct words words_bulk;
extern const struct words words_notice;
extern const struct words words_remedy;
extern const struct words words_breaker;
extern const struct words words_breaker_closed;
extern const struct words words_delivery;
extern const struct words words_join;
extern const struct words words_window;
extern const struct words words_key_scope;
extern const struct words words_key_status;
extern const struct words words_access_mode;
extern const struct words words_all_spaces;
extern const struct words words_alert;
extern const struct words words_severity;
extern const struct words words_alert_state;
extern const struct words words_alert_state_asked;
extern const struct words words_alert_of;
extern const struct words words_unit;
extern const struct words words_comparison;
extern const struct words words_status;
extern const struct words words_node_state;
extern const struct words words_shard_state;
extern const struct words words_health;
extern const struct words words_not_ready;
extern const struct words words_schema;
extern const struct words words_cloud_version;
extern const struct words words_cloud_content;
extern const struct words words_envelope_2;

/* Two values may be told alike: does the word at this place stand in the list before it, too? */
bool words_stands_before(const struct words *words, size_t place);

#endif

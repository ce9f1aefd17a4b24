/* The description of every operation, by the operation's name. */
#ifndef SPINE_API_DESCRIBE_DESCRIPTIONS_H
#define SPINE_API_DESCRIBE_DESCRIPTIONS_H

#include "api/describe/describe.h"

extern const struct description describe_list_memories;
extern const struct description describe_store_memory;
extern const struct description describe_store_memories;
extern const struct description describe_fetch_memories;
extern const struct description describe_read_memory;
extern const struct description describe_change_memory;
extern const struct description describe_forget_memory;
extern const struct description describe_list_versions;
extern const struct description describe_pin_memory;
extern const struct description describe_unpin_memory;
extern const struct description describe_revert_memory;
extern const struct description describe_pack;
extern const struct description describe_read_envelope;
extern const struct description describe_verify_envelope;
extern const struct description describe_resolve_envelope;
extern const struct description describe_list_receipts;
extern const struct description describe_read_considered;
extern const struct description describe_compare_envelopes;
extern const struct description describe_list_tasks;
extern const struct description describe_read_task;
extern const struct description describe_read_fidelity;
extern const struct description describe_blame;
extern const struct description describe_list_agents;
extern const struct description describe_read_agent;
extern const struct description describe_register_agent;
extern const struct description describe_send;
extern const struct description describe_list_handoffs;
extern const struct description describe_read_handoff;
extern const struct description describe_ack;
extern const struct description describe_nack;
extern const struct description describe_reject;
extern const struct description describe_progress;
extern const struct description describe_complete;
extern const struct description describe_need;
extern const struct description describe_park;
extern const struct description describe_list_parked;
extern const struct description describe_redrive;
extern const struct description describe_reroute;
extern const struct description describe_shrink;
extern const struct description describe_discard;
extern const struct description describe_receive;
extern const struct description describe_stream_handoffs;
extern const struct description describe_reset_breaker;
extern const struct description describe_list_channels;
extern const struct description describe_read_channel;
extern const struct description describe_make_channel;
extern const struct description describe_subscribe;
extern const struct description describe_unsubscribe;
extern const struct description describe_publish;
extern const struct description describe_join;
extern const struct description describe_list_routes;
extern const struct description describe_read_route;
extern const struct description describe_put_route;
extern const struct description describe_delete_route;
extern const struct description describe_trace_task;
extern const struct description describe_watch_events;
extern const struct description describe_audit;
extern const struct description describe_list_spaces;
extern const struct description describe_read_space;
extern const struct description describe_set_space, describe_delete_space;
extern const struct description describe_count_tokens;
extern const struct description describe_health;
extern const struct description describe_readiness;
extern const struct description describe_stats;
extern const struct description describe_list_alerts;
extern const struct description describe_ack_alert;
extern const struct description describe_silence_alert;
extern const struct description describe_metrics;
extern const struct description describe_status;
extern const struct description describe_list_schemas;
extern const struct description describe_read_schema;
extern const struct description describe_openapi;

#endif

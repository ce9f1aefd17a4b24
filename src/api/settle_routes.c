/* What a receiver answers: ack, nack, release, need, progress, complete, reject. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/delivery/need.h"

const struct route settle_routes[] = {
	{HTTP_POST, "/v1/handoffs/{}/ack", &settle_kind, &describe_ack, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/nack", &settle_kind, &describe_nack, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/release", &settle_kind, &describe_release, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/reject", &settle_kind, &describe_reject, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/progress", &settle_kind, &describe_progress, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/complete", &settle_kind, &describe_complete, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/need", &need_kind, &describe_need, NULL, NULL},
	{0},
};

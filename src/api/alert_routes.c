/* Alerts: list with the rules in force, acknowledge, silence. What fires and what is over is decided by the figures
 * alone (core/watch/alerts.h). */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/watch/alert_decide.h"
#include "engine/watch/alert_list.h"

const struct route alert_routes[] = {
	{HTTP_GET, "/v1/alerts", &alert_list_kind, &describe_list_alerts, NULL, NULL},
	{HTTP_POST, "/v1/alerts/{}/ack", &alert_decide_kind, &describe_ack_alert, NULL, NULL},
	{HTTP_POST, "/v1/alerts/{}/silence", &alert_decide_kind, &describe_silence_alert, NULL, NULL},
	{0},
};

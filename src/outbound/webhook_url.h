/* Which addresses a webhook may have. Whoever can register an agent makes the server post there, so that by default it
 * is this machine only: 127.0.0.0/8, [::1] and localhost. The operator's list adds others.
 *
 * Names are checked, not the addresses that they have just now. That is enough: what stands for this machine is a
 * number, or "localhost", which is never looked up (poster.h), and a name of the list is trusted wherever it leads. */
#ifndef SPINE_OUTBOUND_WEBHOOK_URL_H
#define SPINE_OUTBOUND_WEBHOOK_URL_H

#include "core/problem.h"

/* The list: names of hosts, separated by commas. "hooks.example.com" is that host, "*.example.com" every host below it,
 * "*" all. False, with a sentence in *error, where it is not such a list. */
bool webhook_url_hosts_are_valid(struct str hosts, struct buf *error);

/* An address of http or https, without a user's name in it, whose host is this machine or in the list. */
enum problem_code webhook_url_check(struct str hosts, struct str url, struct problem *problem);

#endif

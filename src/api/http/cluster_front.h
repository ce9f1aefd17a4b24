/* The front of a node of a cluster: any node takes any request, and the owner of its space answers it.
 *
 *     about no space          this node's own api
 *     of a shard of its own   the api of that shard; one that is not open yet is opened, and the request waits
 *     of another's            passed on to the owner, sealed (core/cluster/passed.h); its answer comes back as it is
 *     of nobody's             503 no_owner; the same where the owner is too old to know what is asked
 *
 * The node that a request comes to lets it in, or does not; the owner takes its word, and finds what the key may by its
 * number. Nobody passes on what was passed to it: then 503 no_owner. Each answer says which node gave it (Spine-Node);
 * one about a space says where its owner is (Spine-Owner).
 */
#ifndef SPINE_API_HTTP_CLUSTER_FRONT_H
#define SPINE_API_HTTP_CLUSTER_FRONT_H

#include "api/api.h"
#include "api/http/entry.h"
#include "codec/json.h"
#include "net/http_pass.h"
#include "store/cluster.h"

/* Where a shard is. */
struct cluster_place {
	struct api *api;		/* here: held for the request until it ends. NULL: not here, */
	bool is_coming;			/* or not yet: go_on will be called */
	const char *url;		/* of the node that has it, in the request's arena; NULL: not known */
	const char *version;		/* of that node, as well */
	int64_t protocol;		/* what that node knows; core/cluster/protocol.h */
};

enum { CLUSTER_PARTS_MAX = 64 };

/* A shard that is open here. */
struct cluster_part {
	int shard;
	struct api *api;
	void *part;			/* the node's */
};

struct cluster_standby_figures {
	char name[64];
	int64_t lag_ms, lag_bytes;	/* -1: not known */
};

/* For whoever watches. */
struct cluster_figures {
	int64_t live, leaving, gone, unknown;	/* nodes that this one sees */
	int64_t owned, moving;		/* shards: of this node; on their way */
	int64_t orphans;		/* with spaces, and without an owner; below 0: not known */
	int64_t lease_left_ms;		/* of this node */
	int64_t clock_offset_ms;
	uint64_t opened;		/* shards, since the start */
	uint64_t losses;		/* how often the lease ran out, since the start */
	struct cluster_standby_figures standbys[STORE_STANDBYS_MAX];	/* of the database, each name once */
	size_t standby_count;
};

/* What the api asks of the node. */
struct cluster_node_api {
	void *ctx;
	/* On the HTTP thread. go_on is called later on that thread where it is coming: is_open says whether it came. */
	void (*find)(void *ctx, int shard, struct http_req *req, void (*go_on)(void *arg, bool is_open), void *arg,
		     struct cluster_place *ret);
	/* Any thread: all that are open here, each held until it is released. Returns how many. */
	size_t (*hold)(void *ctx, struct cluster_part ret[CLUSTER_PARTS_MAX]);
	void (*release)(void *ctx, const struct cluster_part *part);
	/* Any thread: a bit for each shard that may have spaces, wherever it is. */
	uint64_t (*shards_with_spaces)(void *ctx);
	/* Any thread: to read what is committed in a shard, wherever it is. Returns owned, or NULL. */
	struct store_conn *(*read_shard)(void *ctx, int shard);
	/* Any thread: why the node is not ready; NULL: it is. */
	const char *(*trouble)(void *ctx);
	/* Any thread. */
	void (*count)(void *ctx, struct cluster_figures *ret);
	/* Any thread: the members of the answer to GET /v1/cluster. */
	void (*put)(void *ctx, struct json_writer *w);
};

struct cluster_front;

struct cluster_front_config {
	struct api *own;
	const struct cluster_node_api *node;
	const char *id;			/* of the node */
	const char *url;		/* where the others reach it */
	const struct http_pass_files *files;
	int threads;
};

/* Borrows all of it. Returns owned. */
struct cluster_front *cluster_front_new(const struct cluster_front_config *config);
/* After the HTTP threads have ended. NULL-safe. */
void cluster_front_free(struct cluster_front *f);
/* Before it nothing is passed on, and nobody's word is taken. 32 bytes; any thread. */
void cluster_front_set_secret(struct cluster_front *f, struct str secret);

/* Any thread: the node at that URL is gone. What was passed on to it and is not answered gets no answer any more. */
void cluster_front_cut(struct cluster_front *f, struct str url);

/* In the callbacks of HTTP. */
void cluster_front_thread_start(struct cluster_front *f, int thread);
void cluster_front_thread_stop(struct cluster_front *f, int thread);
/* For each request first. */
void cluster_front_mark(struct cluster_front *f, struct http_req *req);
/* Was it passed on, or says so? Then cluster_front_let_in, instead of everything else that lets in. */
bool cluster_front_is_passed(const struct http_req *req);
enum problem_code cluster_front_let_in(struct cluster_front *f, struct http_req *req, struct problem *problem);
/* Takes the request. */
void cluster_front_take(struct cluster_front *f, struct http_req *req, const struct entry *entry);

#endif

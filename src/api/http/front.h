/* Which api answers a request: the ctx of the callbacks of HTTP.
 *
 * The embedded server has one api for all spaces. A node of a cluster has one for each shard that it has opened, and
 * its own one, which lets in and answers what is about no space; whose a request is says its space
 * (cluster_front.h).
 */
#ifndef SPINE_API_HTTP_FRONT_H
#define SPINE_API_HTTP_FRONT_H

struct api;
struct cluster_front;

struct front {
	struct api *own;
	struct cluster_front *cluster;	/* NULL: own answers everything */
};

#endif

/* The part of the schema about nodes, and who owns what. Only postgres_schema.c includes this.
 *
 * Locks are taken in one order: the shard's row, the node's. A renewal changes the node's row and reads the shards in
 * the same transaction; whoever takes a shard holds the row of its former owner until it has it. So a node that finds
 * itself to be the owner, with a new lease, is: a shard is not taken from it before that lease ends.
 */
#ifndef SPINE_STORE_POSTGRES_CLUSTER_SCHEMA_H
#define SPINE_STORE_POSTGRES_CLUSTER_SCHEMA_H

#include "store/cluster.h"

_Static_assert(STORE_LEASE_MS == 5000, "now_ms() + 5000");

#define POSTGRES_CLUSTER_SCHEMA \
	"CREATE TABLE cluster (secret bytea NOT NULL CHECK (length(secret) = 32));" \
	/* 244 bits of chance, from PostgreSQL's strong source. */ \
	"INSERT INTO cluster SELECT " \
	"  sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));" \
	"CREATE TABLE node (id text PRIMARY KEY, url text NOT NULL, version text NOT NULL," \
	"  protocol bigint NOT NULL," \
	"  started_at bigint NOT NULL," \
	"  lease_until bigint NOT NULL, is_leaving boolean NOT NULL, clock_offset bigint NOT NULL," \
	/* Of access_mode: it goes by the keys of that version, or of a later one. */ \
	"  keys_version bigint NOT NULL DEFAULT 0) " \
	"  WITH (fillfactor = 10);" \
	"CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql AS $$" \
	"  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;" \
	\
	/* Of all that a node has. Who locks several shards does so in their order, as those who commit together. */ \
	"CREATE FUNCTION disown(who text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN" \
	"  PERFORM 1 FROM spine.shard WHERE owner = who ORDER BY shard FOR UPDATE;" \
	"  UPDATE spine.shard SET owner = NULL, epoch = epoch + 1 WHERE owner = who;" \
	"END $$;" \
	\
	/* The lease begins anew. A row that is not there (any more) is made, and then the node owns nothing: somebody
	 * may have taken it meanwhile. Others may wait to hear which keys it has. */ \
	"CREATE FUNCTION renew(me text, my_url text, my_version text, my_protocol bigint, leaves boolean, " \
	"  clock bigint, keys bigint) RETURNS void LANGUAGE plpgsql AS $$ DECLARE had bigint; BEGIN" \
	"  SELECT keys_version INTO had FROM spine.node WHERE id = me FOR UPDATE;" \
	"  IF FOUND THEN" \
	"    UPDATE spine.node SET lease_until = spine.now_ms() + 5000, clock_offset = clock, " \
	"      keys_version = keys WHERE id = me;" \
	"  ELSE" \
	"    PERFORM spine.disown(me);" \
	"    INSERT INTO spine.node VALUES (me, my_url, my_version, my_protocol, spine.now_ms(), " \
	"      spine.now_ms() + 5000, leaves, clock, keys);" \
	"  END IF;" \
	"  IF had IS DISTINCT FROM keys THEN PERFORM pg_notify('spine', ''); END IF;" \
	/* Rows of nodes that are gone for ten minutes. */ \
	"  DELETE FROM spine.node WHERE id IN (SELECT id FROM spine.node WHERE id <> me" \
	"    AND lease_until < spine.now_ms() - 600000 FOR UPDATE SKIP LOCKED);" \
	"END $$;" \
	\
	/* Its row stays locked until the end of the transaction: the lease cannot begin anew meanwhile. */ \
	"CREATE FUNCTION is_live(who text) RETURNS boolean LANGUAGE plpgsql AS $$ DECLARE until bigint; BEGIN" \
	"  SELECT lease_until INTO until FROM spine.node WHERE id = who FOR SHARE;" \
	"  RETURN coalesce(until > spine.now_ms(), false);" \
	"END $$;" \
	\
	/* The next epoch, and its marker. Old markers go: nobody asks for one so many owners later. */ \
	"CREATE FUNCTION raise_epoch(which bigint, who text, first bigint) RETURNS bigint LANGUAGE plpgsql AS $$ " \
	"DECLARE raised bigint; BEGIN" \
	"  UPDATE spine.shard SET epoch = epoch + 1, owner = who, " \
	"    since = CASE WHEN first > 0 THEN first ELSE epoch + 1 END WHERE shard = which " \
	"    RETURNING epoch INTO raised;" \
	"  INSERT INTO spine.marker VALUES (which, raised, 0);" \
	"  DELETE FROM spine.marker WHERE shard = which AND epoch < raised - 100;" \
	"  PERFORM pg_notify('spine', '');" \
	"  RETURN raised;" \
	"END $$;" \
	\
	/* first 0: a node takes a shard that no node that lives has; the answer is the epoch. Else its writer goes on
	 * that took it with that epoch, if nobody has taken it meanwhile. */ \
	"CREATE FUNCTION take(which bigint, me text, first bigint) RETURNS bigint LANGUAGE plpgsql AS $$ " \
	"DECLARE has spine.shard%ROWTYPE; BEGIN" \
	"  SELECT * INTO has FROM spine.shard WHERE shard = which FOR UPDATE;" \
	"  IF NOT FOUND THEN RAISE EXCEPTION 'there is no shard %', which USING ERRCODE = 'SP002'; END IF;" \
	"  IF first > 0 AND (has.owner IS DISTINCT FROM me OR has.since <> first) THEN" \
	"    RAISE EXCEPTION 'shard % was taken by another', which USING ERRCODE = 'SP001'; END IF;" \
	"  IF first = 0 AND has.owner IS DISTINCT FROM me AND spine.is_live(has.owner) THEN" \
	"    RAISE EXCEPTION 'shard % is of %, which lives', which, has.owner USING ERRCODE = 'SP001'; END IF;" \
	"  IF first = 0 AND NOT spine.is_live(me) THEN" \
	"    RAISE EXCEPTION '% has no lease', me USING ERRCODE = 'SP003'; END IF;" \
	"  RETURN spine.raise_epoch(which, me, first);" \
	"END $$;" \
	\
	/* True: it was its own. Waits for what its writer has under way. */ \
	"CREATE FUNCTION give(which bigint, me text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN" \
	"  UPDATE spine.shard SET owner = NULL, epoch = epoch + 1 WHERE shard = which AND owner = me;" \
	"  IF NOT FOUND THEN RETURN false; END IF;" \
	"  PERFORM pg_notify('spine', '');" \
	"  RETURN true;" \
	"END $$;" \
	"CREATE FUNCTION leave(me text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN" \
	"  UPDATE spine.node SET is_leaving = true WHERE id = me;" \
	"  PERFORM pg_notify('spine', '');" \
	"END $$;" \
	"CREATE FUNCTION remove(me text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN" \
	"  PERFORM spine.disown(me);" \
	"  DELETE FROM spine.node WHERE id = me;" \
	"  PERFORM pg_notify('spine', '');" \
	"END $$;" \
	\
	/* A server that was stopped in the middle of a transaction holds its shard, for as long as its machine answers
	 * for it. Ends its session, where that waits for the client for two seconds and more; one that is at its COMMIT
	 * is left alone. */ \
	"CREATE FUNCTION end_holder(which bigint) RETURNS bigint LANGUAGE sql AS $$" \
	"  SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a WHERE a.pid <> pg_backend_pid()" \
	"  AND a.wait_event = 'ClientRead' AND a.xact_start < clock_timestamp() - interval '2 seconds' AND a.pid IN (" \
	"    SELECT l.pid FROM pg_locks l JOIN spine.shard s ON s.shard = which WHERE l.locktype = 'transactionid'" \
	"    AND l.granted AND l.transactionid = s.xmax) $$;"

#endif

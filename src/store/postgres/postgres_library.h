/* libpq, found when it is needed: whoever keeps everything in the data directory need not have it.
 *
 * The functions keep their names; each is a pointer here, set once for the process by postgres_library_open.
 */
#ifndef SPINE_STORE_POSTGRES_LIBRARY_H
#define SPINE_STORE_POSTGRES_LIBRARY_H

#include "base/buf.h"

#include <libpq-fe.h>

#define POSTGRES_LIBRARY(X) \
	X(PQbackendPID) X(PQclear) X(PQcmdStatus) X(PQcmdTuples) X(PQconnectdbParams) X(PQconnectStartParams) \
	X(PQconninfo) X(PQconninfoFree) X(PQconninfoParse) X(PQconsumeInput) \
	X(PQenterPipelineMode) X(PQexitPipelineMode) X(PQerrorMessage) X(PQexec) X(PQexecParams) \
	X(PQfinish) X(PQflush) X(PQfreemem) \
	X(PQgetResult) X(PQgetisnull) X(PQgetlength) X(PQgetvalue) X(PQisBusy) X(PQnotifies) X(PQntuples) \
	X(PQpipelineSync) X(PQresultErrorField) X(PQresultErrorMessage) X(PQresultStatus) \
	X(PQsendFlushRequest) X(PQsendPrepare) X(PQsendQuery) X(PQsendQueryParams) X(PQsendQueryPrepared) \
	X(PQsetNoticeReceiver) X(PQsetnonblocking) X(PQsocket) X(PQstatus)

#define POSTGRES_POINTER(name) __typeof__(name) *name;
struct postgres_library {
	POSTGRES_LIBRARY(POSTGRES_POINTER)
};
#undef POSTGRES_POINTER

/* Never changes once it is set. */
extern struct postgres_library postgres_library;

/* From any thread, before anything else of it. False, with a sentence, where this machine has none. */
bool postgres_library_open(struct buf *error);

/* Not where they are found. */
#ifndef POSTGRES_LIBRARY_ITSELF
#define PQbackendPID postgres_library.PQbackendPID
#define PQclear postgres_library.PQclear
#define PQcmdStatus postgres_library.PQcmdStatus
#define PQcmdTuples postgres_library.PQcmdTuples
#define PQconnectdbParams postgres_library.PQconnectdbParams
#define PQconnectStartParams postgres_library.PQconnectStartParams
#define PQconninfo postgres_library.PQconninfo
#define PQconninfoFree postgres_library.PQconninfoFree
#define PQconninfoParse postgres_library.PQconninfoParse
#define PQconsumeInput postgres_library.PQconsumeInput
#define PQenterPipelineMode postgres_library.PQenterPipelineMode
#define PQexitPipelineMode postgres_library.PQexitPipelineMode
#define PQerrorMessage postgres_library.PQerrorMessage
#define PQexec postgres_library.PQexec
#define PQexecParams postgres_library.PQexecParams
#define PQfinish postgres_library.PQfinish
#define PQflush postgres_library.PQflush
#define PQfreemem postgres_library.PQfreemem
#define PQgetResult postgres_library.PQgetResult
#define PQgetisnull postgres_library.PQgetisnull
#define PQgetlength postgres_library.PQgetlength
#define PQgetvalue postgres_library.PQgetvalue
#define PQisBusy postgres_library.PQisBusy
#define PQnotifies postgres_library.PQnotifies
#define PQntuples postgres_library.PQntuples
#define PQpipelineSync postgres_library.PQpipelineSync
#define PQresultErrorField postgres_library.PQresultErrorField
#define PQresultErrorMessage postgres_library.PQresultErrorMessage
#define PQresultStatus postgres_library.PQresultStatus
#define PQsendFlushRequest postgres_library.PQsendFlushRequest
#define PQsendPrepare postgres_library.PQsendPrepare
#define PQsendQuery postgres_library.PQsendQuery
#define PQsendQueryParams postgres_library.PQsendQueryParams
#define PQsendQueryPrepared postgres_library.PQsendQueryPrepared
#define PQsetNoticeReceiver postgres_library.PQsetNoticeReceiver
#define PQsetnonblocking postgres_library.PQsetnonblocking
#define PQsocket postgres_library.PQsocket
#define PQstatus postgres_library.PQstatus
#endif

#endif

/* What this program was built from, and the libraries that it runs with. */
#ifndef SPINE_SERVE_BUILD_INFO_H
#define SPINE_SERVE_BUILD_INFO_H

#include <stddef.h>

struct build_info {
	const char *version;	/* the file VERSION */
	const char *commit;	/* with "+" behind it where files were changed since; NULL where nobody knows it */
	const char *compiler;
	const char *flags;	/* of the C compiler */
};

struct build_library {
	const char *name;
	const char *version;
};

extern const struct build_info build_info;

enum { BUILD_LIBRARIES = 7 };

/* Their versions now, not when the program was built: a shared library is replaced by an update of the system. Of
 * llhttp and simdjson, which do not say it, it is the version that the program was built with. */
void build_libraries(struct build_library ret[BUILD_LIBRARIES]);

#endif

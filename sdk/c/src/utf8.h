#ifndef MSI_UTF8_H
#define MSI_UTF8_H

#include <stddef.h>

/* The length of the longest beginning of text that is well-formed UTF-8: len where all of it is. */
size_t msi_utf8_prefix(const char *text, size_t len);

#endif

/* Filling an ms_error. Every function takes NULL for it. */
#ifndef MSI_ERROR_H
#define MSI_ERROR_H

#include "memory_spine.h"

/* Nothing went wrong so far. */
void msi_error_clear(ms_error *error);
/* Sets status, code and a sentence; returns the status. */
ms_status msi_error_set(ms_error *error, ms_status status, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
ms_status msi_error_no_memory(ms_error *error);
/* An argument cannot be used: field names it. */
ms_status msi_error_invalid(ms_error *error, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Copies text, cut between two characters where it does not fit. */
void msi_error_copy(char *ret, size_t size, const char *text);

#endif

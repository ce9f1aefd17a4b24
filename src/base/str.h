/* A slice of bytes that somebody else owns. Not terminated; may hold NUL bytes. */
#ifndef SPINE_BASE_STR_H
#define SPINE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t n;
};

/* A slice of a string literal. */
#define STR(literal) ((struct str){("" literal), sizeof(literal) - 1})
#define STR_NULL ((struct str){NULL, 0})
/* For printf's %.*s. */
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

static inline struct str str_of(const char *cstr)
{
	return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

static inline struct str str_sub(struct str s, size_t from, size_t to)
{
	/* Of an empty one p may be NULL, and NULL + 0 is not defined. */
	return (struct str){from ? s.p + from : s.p, to - from};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str s, const char *cstr)
{
	return str_eq(s, str_of(cstr));
}

/* ASCII case is ignored. */
bool str_ieq(struct str a, struct str b);
bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);
/* The order of memcmp, the shorter first. */
int str_cmp(struct str a, struct str b);
/* Without spaces and tabs at both ends. */
struct str str_trim(struct str s);
/* Position of c, or s.n where there is none. */
size_t str_find(struct str s, char c);
/* Cuts s at the first c: returns what stands before it and leaves the rest in *s
 * (empty, with p NULL, where there was no c left). */
struct str str_cut(struct str *s, char c);

/* The whole of s as a decimal number: no sign, no space, no leading zero. False, and *ret untouched, where
 * it is not one or does not fit. */
bool str_to_u64(struct str s, uint64_t *ret);
/* The same with an optional '-'. */
bool str_to_i64(struct str s, int64_t *ret);

/* Writes value in decimal, without a NUL, and returns how many characters that took. */
enum { STR_U64_SIZE = 20 };
size_t str_put_u64(char ret[STR_U64_SIZE], uint64_t value);

/* The value of a hexadecimal digit of either case, or -1. */
int str_hex_digit(char c);

/* True where all of s is well-formed UTF-8 (no surrogates, no overlong forms). */
bool str_is_utf8(struct str s);
/* The length of the longest beginning of s that is well-formed UTF-8: s.n where all of it is. */
size_t str_utf8_prefix(struct str s);

#endif

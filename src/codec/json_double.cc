/* ECMAScript's Number::toString (ECMA-262, 6.1.6.1.20), which RFC 8785 prescribes.
 *
 * The digits are the fewest that read back as the same double, and of those the nearest to it: std::to_chars finds
 * them. This file only sets the point and the exponent. The standard speaks of k digits whose value is
 * 0.d1d2…dk × 10^n; the names below are its names.
 */
#include "codec/json_double.h"

#include <cassert>
#include <charconv>
#include <cmath>
#include <cstring>

namespace {

struct decimal {
	char digits[24];
	int k;
	int n;
};

/* value is greater than 0. to_chars gives d[.ddd]e±dd. */
decimal shortest(double value)
{
	char text[40];
	std::to_chars_result end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
	decimal result{};
	const char *at = text;
	int exponent = 0;

	assert(end.ec == std::errc());
	for (; *at != 'e'; at++)
		if (*at != '.')
			result.digits[result.k++] = *at;
	at++;
	if (*at == '+')	/* from_chars takes a '-', but no '+' */
		at++;
	std::from_chars(at, end.ptr, exponent);
	result.n = exponent + 1;
	return result;
}

char *put(char *at, const char *bytes, int count)
{
	std::memcpy(at, bytes, static_cast<size_t>(count));
	return at + count;
}

char *put_zeros(char *at, int count)
{
	std::memset(at, '0', static_cast<size_t>(count));
	return at + count;
}

char *put_exponent_form(char *at, const decimal &d)
{
	int exponent = d.n - 1;

	*at++ = d.digits[0];
	if (d.k > 1) {
		*at++ = '.';
		at = put(at, d.digits + 1, d.k - 1);
	}
	*at++ = 'e';
	*at++ = exponent < 0 ? '-' : '+';
	return std::to_chars(at, at + 4, exponent < 0 ? -exponent : exponent).ptr;
}

char *put_decimal(char *at, const decimal &d)
{
	if (d.n > 21 || d.n <= -6)
		return put_exponent_form(at, d);
	if (d.n >= d.k) {
		at = put(at, d.digits, d.k);
		return put_zeros(at, d.n - d.k);
	}
	if (d.n > 0) {
		at = put(at, d.digits, d.n);
		*at++ = '.';
		return put(at, d.digits + d.n, d.k - d.n);
	}
	at = put(at, "0.", 2);
	at = put_zeros(at, -d.n);
	return put(at, d.digits, d.k);
}

}

/* Below 2^53 a whole number is exactly its digits; ECMAScript writes them out up to 1e21. */
static const double WHOLE_MAX = 9007199254740992.0;

size_t json_double_format(double value, char ret[JSON_DOUBLE_SIZE])
{
	char *at = ret;

	assert(std::isfinite(value));
	if (value == 0) {	/* and -0, which has no sign in ECMAScript's text */
		*at = '0';
		return 1;
	}
	if (value < 0)
		*at++ = '-';
	/* Seconds are mostly whole ones, and these are digits only. */
	if (std::fabs(value) < WHOLE_MAX && std::trunc(value) == value) {
		at = std::to_chars(at, ret + JSON_DOUBLE_SIZE, static_cast<int64_t>(std::fabs(value))).ptr;
		return static_cast<size_t>(at - ret);
	}
	at = put_decimal(at, shortest(std::fabs(value)));
	return static_cast<size_t>(at - ret);
}

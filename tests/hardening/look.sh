#!/usr/bin/env bash
# Looks at a binary: is it built so that a mistake in C is harder to use? Usage: look.sh build/spine
#
# Ends with "N passed, N failed". What the machine's compiler does not know is told as skipped.
set -euo pipefail

binary=$1
passed=0
failed=0

# look NAME COMMAND…: it holds where the command succeeds.
look() {
	local name=$1

	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $name"
	fi
}

has() {
	grep -qE -- "$1" <<<"$2"
}

header=$(readelf -Wh "$binary")
dynamic=$(readelf -Wd "$binary")
segments=$(readelf -Wl "$binary")
symbols=$(readelf -W --dyn-syms "$binary")
notes=$(readelf -Wn "$binary" 2>/dev/null)

look "it is placed anywhere (PIE)" has 'Type:[[:space:]]+DYN' "$header"
look "what is relocated is read-only (RELRO)" has 'GNU_RELRO' "$segments"
look "all of it is, from the start (BIND_NOW)" has 'BIND_NOW|FLAGS_1.*NOW' "$dynamic"
look "no memory is written and executed: the stack" has 'GNU_STACK.*RW[[:space:]]' "$segments"
look "no memory is written and executed: segments" bash -c '! grep -qE "LOAD.*RWE" <<<"$1"' _ "$segments"
look "stacks are guarded" has '__stack_chk_fail' "$symbols"
look "calls of the C library check the room (_FORTIFY_SOURCE)" has '__[a-z]+_chk@' "$symbols"
look "no path for libraries is built in" bash -c '! grep -qE "RPATH|RUNPATH" <<<"$1"' _ "$dynamic"
if [ "$(uname -m)" = x86_64 ]; then
	# The start files and libraries of the system have a say in this note; ours are asked at an object.
	object=$(dirname "$binary")/src/main.o
	look "jumps land where they may (CET)" has 'IBT' "$(readelf -Wn "$object" 2>/dev/null)$notes"
else
	echo "skipped: CET is a matter of x86-64"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

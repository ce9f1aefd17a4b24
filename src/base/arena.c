#include "base/arena.h"

#include "base/mem.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(addr, size) ((void)(addr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(addr, size) ((void)(addr), (void)(size))
#endif

struct arena_block {
	struct arena_block *next;
	size_t size;
	_Alignas(max_align_t) char data[];
};

enum {
	ARENA_BLOCK = 4096 - sizeof(struct arena_block),
	PRINTED_BYTES = 256,	/* what is printed is shorter, as a rule */
};

void arena_init(struct arena *a)
{
	*a = (struct arena){0};
}

void arena_init_room(struct arena *a, void *room, size_t size)
{
	assert((uintptr_t)room % _Alignof(max_align_t) == 0);
	*a = (struct arena){.at = room, .end = (char *)room + size};
	ASAN_POISON_MEMORY_REGION(room, size);
}

void arena_release(struct arena *a)
{
	struct arena_block *block = a->blocks;

	while (block) {
		struct arena_block *next = block->next;

		ASAN_UNPOISON_MEMORY_REGION(block->data, block->size);
		free(block);
		block = next;
	}
	arena_init(a);
}

void arena_release_wiped(struct arena *a, void *room, size_t size)
{
	ASAN_UNPOISON_MEMORY_REGION(room, size);
	mem_wipe(room, size);
	for (struct arena_block *block = a->blocks; block; block = block->next) {
		ASAN_UNPOISON_MEMORY_REGION(block->data, block->size);
		mem_wipe(block->data, block->size);
	}
	arena_release(a);
}

/* Blocks double up to 64 KiB, so that a large request does not take thousands of them. */
static size_t next_block_size(const struct arena *a, size_t wanted)
{
	size_t size = a->blocks ? a->blocks->size * 2 : ARENA_BLOCK;

	if (size > 65536)
		size = 65536;
	return size < wanted ? wanted : size;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t align = _Alignof(max_align_t);
	void *at;

	if (size == 0)
		size = 1;
	size = (size + align - 1) & ~(align - 1);
	if ((size_t)(a->end - a->at) < size) {
		size_t room = next_block_size(a, size);
		struct arena_block *block = mem_alloc(sizeof(*block) + room);

		block->next = a->blocks;
		block->size = room;
		a->blocks = block;
		a->at = block->data;
		a->end = block->data + room;
		ASAN_POISON_MEMORY_REGION(block->data, room);
	}
	at = a->at;
	a->at += size;
	ASAN_UNPOISON_MEMORY_REGION(at, size);
	return at;
}

void *arena_zalloc(struct arena *a, size_t size)
{
	return memset(arena_alloc(a, size), 0, size);
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		abort();
	return arena_zalloc(a, total);
}

char *arena_cstr(struct arena *a, struct str s)
{
	char *copy = arena_alloc(a, s.n + 1);

	if (s.n)
		memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	return copy;
}

struct str arena_str(struct arena *a, struct str s)
{
	return (struct str){arena_cstr(a, s), s.n};
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
	char small[PRINTED_BYTES], *at;
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(small, sizeof(small), format, again);
	va_end(again);
	at = arena_alloc(a, (size_t)len + 1);
	if ((size_t)len < sizeof(small))
		memcpy(at, small, (size_t)len + 1);
	else
		vsnprintf(at, (size_t)len + 1, format, args);
	va_end(args);
	return (struct str){at, (size_t)len};
}

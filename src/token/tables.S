/* The tables of the token counter as read-only data of the binary: file-backed memory that costs nothing until it
 * is used. */

#ifdef __APPLE__
#define SYMBOL(name) _##name
	.const_data
#else
#define SYMBOL(name) name
	.section .rodata.token_tables, "a", %progbits
#endif
	.balign 4096
	.globl SYMBOL(token_tables_start)
	.globl SYMBOL(token_tables_end)
SYMBOL(token_tables_start):
	.incbin TOKEN_TABLES
SYMBOL(token_tables_end):
	.byte 0

#ifndef __APPLE__
	.section .note.GNU-stack, "", %progbits
#endif

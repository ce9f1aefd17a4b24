/* The JSON documents of schemas/ as read-only data of the binary: what the server says about itself is always of its own
 * version. */

#ifdef __APPLE__
#define SYMBOL(name) _##name
	.const_data
#else
#define SYMBOL(name) name
	.section .rodata.schemas, "a", %progbits
#endif
	.globl SYMBOL(schema_envelope_1_start)
	.globl SYMBOL(schema_envelope_1_end)
SYMBOL(schema_envelope_1_start):
	.incbin "schemas/envelope-1.json"
SYMBOL(schema_envelope_1_end):
	.byte 0

	.globl SYMBOL(schema_envelope_2_start)
	.globl SYMBOL(schema_envelope_2_end)
SYMBOL(schema_envelope_2_start):
	.incbin "schemas/envelope-2.json"
SYMBOL(schema_envelope_2_end):
	.byte 0

#ifndef __APPLE__
	.section .note.GNU-stack, "", %progbits
#endif

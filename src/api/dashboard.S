/* The files of the dashboard as read-only data of the binary, each plain and compressed, and the name of their version. */

#ifdef __APPLE__
#define SYMBOL(name) _##name
	.const_data
#else
#define SYMBOL(name) name
	.section .rodata.dashboard, "a", %progbits
#endif
	.globl SYMBOL(dashboard_version_start)
	.globl SYMBOL(dashboard_version_end)
SYMBOL(dashboard_version_start):
	.incbin "build/dashboard/version"
SYMBOL(dashboard_version_end):
	.byte 0

	.globl SYMBOL(dashboard_index_start)
	.globl SYMBOL(dashboard_index_end)
SYMBOL(dashboard_index_start):
	.incbin "build/dashboard/index.html"
SYMBOL(dashboard_index_end):
	.byte 0

	.globl SYMBOL(dashboard_index_gz_start)
	.globl SYMBOL(dashboard_index_gz_end)
SYMBOL(dashboard_index_gz_start):
	.incbin "build/dashboard/index.html.gz"
SYMBOL(dashboard_index_gz_end):
	.byte 0

	.globl SYMBOL(dashboard_script_start)
	.globl SYMBOL(dashboard_script_end)
SYMBOL(dashboard_script_start):
	.incbin "build/dashboard/app.js"
SYMBOL(dashboard_script_end):
	.byte 0

	.globl SYMBOL(dashboard_script_gz_start)
	.globl SYMBOL(dashboard_script_gz_end)
SYMBOL(dashboard_script_gz_start):
	.incbin "build/dashboard/app.js.gz"
SYMBOL(dashboard_script_gz_end):
	.byte 0

	.globl SYMBOL(dashboard_style_start)
	.globl SYMBOL(dashboard_style_end)
SYMBOL(dashboard_style_start):
	.incbin "build/dashboard/app.css"
SYMBOL(dashboard_style_end):
	.byte 0

	.globl SYMBOL(dashboard_style_gz_start)
	.globl SYMBOL(dashboard_style_gz_end)
SYMBOL(dashboard_style_gz_start):
	.incbin "build/dashboard/app.css.gz"
SYMBOL(dashboard_style_gz_end):
	.byte 0

#ifndef __APPLE__
	.section .note.GNU-stack, "", %progbits
#endif

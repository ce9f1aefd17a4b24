# The C library: libmemoryspine, static and shared. Included by the Makefile of the project, of which it uses OUT, CC,
# OPT, SAN_FLAGS, WARN_C, VERSION and say. It needs libcurl and nothing else.
#
#   make c-lib                                   build/libmemoryspine.a, build/libmemoryspine.so
#   make install-lib DESTDIR=… PREFIX=/usr       header, libraries, memoryspine.pc
#   make operations                              sdk/c/src/operations.inc, made anew from the server's descriptions

C_LIB_SRC := $(wildcard sdk/c/src/*.c)
C_LIB_OBJ := $(C_LIB_SRC:sdk/c/src/%.c=$(OUT)/sdk/c/%.o)
# The number changes with whatever a program that was linked before could not stand: a struct of the header, a function
# that is gone.
C_LIB_SONAME := libmemoryspine.so.0
C_LIB_FILE := libmemoryspine.so.$(VERSION)
C_LIB_STATIC := $(OUT)/libmemoryspine.a
C_LIB_SHARED := $(OUT)/$(C_LIB_FILE)
# POSIX and no more, but for getentropy.
C_LIB_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE $(WARN_C) $(OPT) -g -pthread -fPIC -fvisibility=hidden \
               -fstack-protector-strong $(HARDEN) $(SAN_FLAGS) -Isdk/c/include -DSPINE_VERSION='"$(VERSION)"' -MMD -MP
C_CURL_CFLAGS := $(shell pkg-config --cflags libcurl 2>/dev/null)
C_CURL_LIBS := $(shell pkg-config --libs libcurl 2>/dev/null)

.PHONY: c-lib install-lib uninstall-lib operations
c-lib: $(C_LIB_STATIC) $(C_LIB_SHARED)	## build/libmemoryspine.a and .so: the C client

$(OUT)/sdk/c/%.o: sdk/c/src/%.c VERSION
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(C_LIB_CFLAGS) $(C_CURL_CFLAGS) $(CFLAGS) -c -o $@ $<

$(C_LIB_STATIC): $(C_LIB_OBJ)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^

$(C_LIB_SHARED): $(C_LIB_OBJ)
	$(call say,LINK)$(CC) $(SAN_FLAGS) $(HARDEN_LINK) $(LDFLAGS) -shared -Wl,-soname,$(C_LIB_SONAME) $(if $(SAN),,-Wl$(comma)-z$(comma)defs) \
		-Wl,--as-needed -o $@ $^ $(C_CURL_LIBS) -lm -pthread
	@ln -sf $(C_LIB_FILE) $(OUT)/$(C_LIB_SONAME)
	@ln -sf $(C_LIB_SONAME) $(OUT)/libmemoryspine.so

PREFIX ?= /usr/local
prefix ?= $(PREFIX)
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include

install-lib: c-lib	## the C library, below $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(includedir) $(DESTDIR)$(libdir)/pkgconfig
	install -m 644 sdk/c/include/memory_spine.h $(DESTDIR)$(includedir)/
	install -m 644 $(C_LIB_STATIC) $(DESTDIR)$(libdir)/
	install -m 644 $(C_LIB_SHARED) $(DESTDIR)$(libdir)/
	ln -sf $(C_LIB_FILE) $(DESTDIR)$(libdir)/$(C_LIB_SONAME)
	ln -sf $(C_LIB_SONAME) $(DESTDIR)$(libdir)/libmemoryspine.so
	sed -e 's|@PREFIX@|$(prefix)|; s|@LIBDIR@|$(libdir)|; s|@INCLUDEDIR@|$(includedir)|; s|@VERSION@|$(VERSION)|' \
		sdk/c/memoryspine.pc.in >$(DESTDIR)$(libdir)/pkgconfig/memoryspine.pc

uninstall-lib:
	rm -f $(DESTDIR)$(includedir)/memory_spine.h $(DESTDIR)$(libdir)/pkgconfig/memoryspine.pc
	rm -f $(addprefix $(DESTDIR)$(libdir)/,libmemoryspine.a libmemoryspine.so $(C_LIB_SONAME) $(C_LIB_FILE))

operations: schemas/openapi.json	## the table of operations that the C library knows, made anew
	@$(PYTHON) sdk/c/operations.py

# --- Its tests: programs that sdk/c/tests/test_c.py runs -------------------------------------------------

C_TESTS := calls threads one_call answers hostile give_back no_memory
C_TEST_BIN := $(C_TESTS:%=$(OUT)/sdk/c/tests/%)

.PHONY: c-tests c-fuzz json-fuzz
c-tests: $(C_TEST_BIN) c-lib
	@:

$(OUT)/sdk/c/tests/%: sdk/c/tests/%.c $(C_LIB_STATIC)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(C_LIB_CFLAGS) $(C_CURL_CFLAGS) -MF $@.d -o $@ $< $(C_LIB_STATIC) $(C_CURL_LIBS) -lm $(C_TEST_FLAGS)
$(OUT)/sdk/c/tests/no_memory: C_TEST_FLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup

# What the reader of answers does with bytes that nobody has thought of; and both readers of JSON, which must agree.
c-fuzz:	## give the C library hostile answers, FUZZ_SECONDS long (needs clang)
	@$(MAKE) --no-print-directory fuzz FUZZ_ONLY=answer
json-fuzz:	## give both readers of JSON hostile texts, FUZZ_SECONDS long (needs clang)
	@$(MAKE) --no-print-directory fuzz FUZZ_ONLY=json
FUZZ_SECONDS ?= 300

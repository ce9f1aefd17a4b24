# Installing, and what people install: part of the Makefile.
#
#   make install                          into /usr/local
#   make install PREFIX=/usr DESTDIR=tmp  as packagers do
#   make install SYSTEMD=1                with the service: unit, user, configuration
#   make uninstall                        with the same variables; configuration and data stay
#
# Each directory of the GNU standards can be given by its name: bindir, mandir, docdir, …

PREFIX ?= /usr/local
prefix ?= $(PREFIX)
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datarootdir ?= $(prefix)/share
datadir ?= $(datarootdir)
mandir ?= $(datarootdir)/man
docdir ?= $(datarootdir)/doc/memory-spine
sysconfdir ?= $(if $(filter /usr /usr/local,$(prefix)),/etc,$(prefix)/etc)
bashcompletiondir ?= $(datadir)/bash-completion/completions
zshcompletiondir ?= $(datadir)/zsh/site-functions
fishcompletiondir ?= $(datadir)/fish/vendor_completions.d
systemdsystemunitdir ?= $(prefix)/lib/systemd/system
sysusersdir ?= $(prefix)/lib/sysusers.d

# MODE:FILE:WHERE. What `make install` puts there, and `make uninstall` removes.
INSTALLED = 755:$(BIN):$(bindir)/spine \
	644:man/spine.1:$(mandir)/man1/spine.1 \
	644:completions/spine.bash:$(bashcompletiondir)/spine \
	644:completions/_spine:$(zshcompletiondir)/_spine \
	644:completions/spine.fish:$(fishcompletiondir)/spine.fish \
	$(foreach f,LICENSE README.md CHANGELOG.md SECURITY.md $(OUT)/third-party.txt,644:$f:$(docdir)/$(notdir $f)) \
	$(foreach f,$(sort docs/cli.md $(wildcard docs/*.md)),644:$f:$(docdir)/$f) \
	$(foreach f,$(wildcard deploy/prometheus/*.yml deploy/grafana/*.json),644:$f:$(docdir)/$f)
ifdef SYSTEMD
  INSTALLED += 644:$(OUT)/memory-spine.service:$(systemdsystemunitdir)/memory-spine.service \
	644:deploy/systemd/memory-spine.sysusers:$(sysusersdir)/memory-spine.conf
endif
# The C library has rules of its own, in sdk/c/c.mk.
WITH_LIB ?= $(wildcard sdk/c/c.mk)
CONFIG_AT = $(DESTDIR)$(sysconfdir)/memory-spine/config

.PHONY: install uninstall tarball deb test-packages
install: binary $(OUT)/third-party.txt $(if $(SYSTEMD),$(OUT)/memory-spine.service) $(if $(WITH_LIB),install-lib)	## into PREFIX (/usr/local), below DESTDIR
	@for each in $(INSTALLED); do \
		IFS=: read -r mode file where <<<"$$each"; \
		install -d "$(DESTDIR)$${where%/*}"; \
		install -m "$$mode" "$$file" "$(DESTDIR)$$where"; \
	done
ifdef SYSTEMD
	@[ -e "$(CONFIG_AT)" ] || { install -d "$(dir $(CONFIG_AT))"; install -m 644 deploy/systemd/config "$(CONFIG_AT)"; }
endif
	@echo "installed below $(DESTDIR)$(prefix)"

uninstall: $(if $(WITH_LIB),uninstall-lib)	## removes what `make install` put there
	@for each in $(INSTALLED); do rm -f "$(DESTDIR)$${each##*:}"; done
	@find "$(DESTDIR)$(docdir)" -depth -type d -empty -delete 2>/dev/null || true

# The unit with the place of the program and of its configuration.
$(OUT)/memory-spine.service: deploy/systemd/memory-spine.service always
	@sed -e 's#/usr/bin/spine#$(bindir)/spine#' -e 's#/etc/memory-spine#$(sysconfdir)/memory-spine#' $< >$@

# Licences of what is a part of the binary: of npm packages, and of Debian packages whose sources or archives it is made of.
$(OUT)/third-party.txt: scripts/third-party $(BIN)
	@scripts/third-party $(if $(LLHTTP_C),node-llhttp) >$@

# --- An archive for Linux: what is not on every system is inside ------------------------------------------

# Debian has no archive of simdjson: the library itself goes along, beside the program. libcurl and OpenSSL stay those of
# the system, which gets their security updates.
TARBALL = memory-spine-$(VERSION)-linux-$(shell uname -m)
TARBALL_DIR = build/tarball/$(TARBALL)
TARBALL_PACKAGES = libuv1-dev libsqlite3-dev libutf8proc-dev libstemmer-dev libsimdjson-dev
TARBALL_LIBS = -Wl,-Bstatic -luv_a -lsqlite3 -lutf8proc -lstemmer -Wl,-Bdynamic -lsimdjson -lcurl -lssl -lcrypto -lm -ldl -pthread
SIMDJSON_SO = $(shell ldconfig -p | sed -n 's/^\t\(libsimdjson[.]so[.][0-9]*\) .*/\1/p' | head -n 1)

tarball: build	## build/memory-spine-VERSION-linux-ARCH.tar.gz: unpack, and run bin/spine
	@rm -rf build/tarball
	@$(MAKE) --no-print-directory install WITH_LIB= SYSTEMD= DESTDIR= prefix="$(abspath $(TARBALL_DIR))" >/dev/null
	@install -d $(TARBALL_DIR)/lib/memory-spine
	@$(CXX) -pie -Wl,-z,relro -Wl,-z,now -Wl,-rpath,'$$ORIGIN/../lib/memory-spine' -o $(TARBALL_DIR)/bin/spine \
		$(OUT)/src/main.o $(LIB) $(TARBALL_LIBS)
	@cp -L "$$(ldconfig -p | sed -n 's/.*$(SIMDJSON_SO) .*=> //p' | head -n 1)" $(TARBALL_DIR)/lib/memory-spine/$(SIMDJSON_SO)
	@strip $(TARBALL_DIR)/bin/spine $(TARBALL_DIR)/lib/memory-spine/*
	@scripts/third-party $(if $(LLHTTP_C),node-llhttp) $(TARBALL_PACKAGES) >$(TARBALL_DIR)/share/doc/memory-spine/third-party.txt
	@scripts/tarball-needs $(TARBALL_DIR) >$(TARBALL_DIR)/NEEDS.txt
	@tar -C build/tarball --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$(SOURCE_DATE) -czf build/$(TARBALL).tar.gz $(TARBALL)
	@echo build/$(TARBALL).tar.gz
	@sed -n '/^It needs/,$$p' $(TARBALL_DIR)/NEEDS.txt

# The time of the last commit, so that the same source gives the same archive.
SOURCE_DATE = $(shell git log -1 --format=%ct 2>/dev/null || date +%s)

# --- Debian packages ---------------------------------------------------------------------------------------

deb: build deps-deb	## build/deb/*.deb, checked by lintian
	@deploy/debian/build

test-packages: build deps-deb	## the packages, the archive and the Python package, installed where nothing else is
	@tests/packages/run

.PHONY: deps-deb
deps-deb:
	@scripts/deps build package

# selvage: thin front to CMake, so that two commands do everything on a fresh Debian 12 machine:
#
#     make demo        builds, and shows what selvage does
#     make check       builds, and runs a part of all tests and checks, in ten minutes
#
# and a third one for what decides whether a change lands:
#
#     make check-deep  everything else, in half an hour
#
# Missing packages are installed with apt (as root, or with sudo); without either, the packages to
# ask for are named. Plain `make` builds build/selvage, build/libselvage.a and build/libselvage.so, and
# says which optional parts are in and which are not, and why, when that has changed.

BUILD  ?= build
PREFIX ?= /usr/local
CMAKE_FLAGS ?=

all: configure
	@cmake --build $(BUILD)

# $(call configured,OPTIONS): CMake itself speaks only if it fails.
configured = cmake -S . -B $(BUILD) -G Ninja $(1) $(CMAKE_FLAGS) >/dev/null && \
	{ cmp -s $(BUILD)/parts.txt $(BUILD)/parts.said || \
	{ cat $(BUILD)/parts.txt && cp $(BUILD)/parts.txt $(BUILD)/parts.said; }; }

configure: deps-build
	@$(call configured)

deps-%:
	@tools/deps.sh $*

demo: deps-demo all
	@tools/demo.sh $(BUILD)

check: deps-check
	@tools/check.sh quick

check-deep: deps-check-deep
	@tools/check.sh deep

# Where files go depends on the prefix (/usr has other places than /usr/local), and what is built
# depends on that: so the prefix first, then the build. DESTDIR stages it.
install: all
	@$(call configured,-DCMAKE_INSTALL_PREFIX:PATH="$(PREFIX)")
	@cmake --build $(BUILD)
	@cmake --install $(BUILD)

bench: deps-build all
	@bench/run.sh $(BUILD)

# Ten minutes a reader by default; make fuzz FUZZ_SECONDS=60 for less.
FUZZ_SECONDS ?= 600
fuzz: deps-check
	@tools/fuzz.sh $(FUZZ_SECONDS)

# A running OpenSM while cables and switches come and go: make soak SOAK="--minutes 5" for less.
SOAK ?=
soak: deps-check-deep all
	@SELVAGE=$(BUILD)/selvage tests/live/soak.py $(SOAK)

# The traces in tests/traces recorded anew; make traces TRACES=chain for one of them.
TRACES ?=
traces: deps-traces all
	@tests/traces/make.sh $(BUILD)/selvage $(TRACES)

# The page of reports (web/dist) made anew from web/src; only this and its check take Node.js and npm.
web:
	@tools/web.sh make $(BUILD)

# Whether the page in web/dist is what web/src and its pinned packages give.
check-web:
	@tools/web.sh check

format: deps-check
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD) demo

.PHONY: all configure demo check check-deep install bench fuzz soak traces web check-web format clean

# SPDX-License-Identifier: Apache-2.0
# build/libgoldcrest.a for the machine that CXX compiles for: make CXX=aarch64-linux-gnu-g++ CXXFLAGS=-O2
CXXFLAGS ?= -O2
target := $(shell $(CXX) $(CXXFLAGS) -dumpmachine)
AR := $(shell $(CXX) -print-prog-name=ar)

# The list for the machine, if it runs Linux; choose another with list=FILE.
machine := $(if $(findstring linux,$(target)),$(patsubst arm%,armv7,$(firstword $(subst -, ,$(target)))))
list := $(firstword $(wildcard sources-$(machine).txt) sources.txt)
objects := $(patsubst source/%.cc,build/%.o,$(shell cut -d' ' -f1 $(list)))

build/libgoldcrest.a: $(objects)
	rm -f $@
	$(AR) rcs $@ $(objects)

# The rest of a file's line in the list holds its own flags.
build/%.o: source/%.cc $(list) flags.txt
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) @flags.txt $(shell sed -n 's|^source/$*[.]cc||p' $(list)) -c $< -o $@

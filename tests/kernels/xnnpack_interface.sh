#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where XNNPACK is found and not asked for, one with an interface that our adapter does not know is left out, with the reason.
# Usage: xnnpack_interface.sh SOURCE WORK HEADERS LIBRARY...
#   HEADERS   the folder of xnnpack.h and pthreadpool.h that the build uses
set -euo pipefail
source=$1 work=$2 headers=$3
fail() { echo "xnnpack_interface.sh: $*" >&2; cat "$work/log" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work/root/usr/include" "$work/root/usr/lib/any-linux-gnu"
cp -L "$headers"/*.h "$work/root/usr/include"
for library in "${@:4}"; do ln -s "$library" "$work/root/usr/lib/any-linux-gnu/"; done
configure() {
  cmake -G Ninja -S "$source" -B "$work/$1" -DGOLDCREST_TESTS=OFF -DGOLDCREST_CONVERTER=OFF -DGOLDCREST_PROGRAMS=OFF \
    -DGOLDCREST_XNNPACK_ROOT="$work/root" > "$work/log" 2>&1 || fail "cmake failed"
}
configure known
grep -q '^-- XNNPACK backend: on' "$work/log" || fail "the installed version is left out"
sed -i 's/xnn_run_operator/xnn_run_another/' "$work/root/usr/include/xnnpack.h"
configure unknown
grep -q '^-- XNNPACK backend: off, the interface in .*xnnpack.h is not one of those' "$work/log" || fail "no reason is given"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where nobody asks for XNNPACK, one whose interface our adapter does not know is left out, and the reason is printed.
# Usage: xnnpack_interface.sh SOURCE WORK HEADERS LIBRARY...
#   HEADERS   the folder of xnnpack.h and pthreadpool.h that the build uses
set -euo pipefail
. "$(dirname "$0")/../common.sh"
source=$1 work=$(fresh_folder "$2") headers=$3
mkdir -p "$work/root/usr/include" "$work/root/usr/lib/any-linux-gnu"
cp -L "$headers"/*.h "$work/root/usr/include"
for library in "${@:4}"; do ln -s "$library" "$work/root/usr/lib/any-linux-gnu/"; done
# expect NAME LINE: configures in NAME, which prints a line that begins with LINE.
expect() {
  logged "$work/$1.log" cmake -G Ninja -S "$source" -B "$work/$1" -DGOLDCREST_TESTS=OFF -DGOLDCREST_CONVERTER=OFF \
    -DGOLDCREST_PROGRAMS=OFF -DGOLDCREST_XNNPACK_ROOT="$work/root"
  grep -q "^$2" "$work/$1.log" || { cat "$work/$1.log" >&2; fail "$1: not printed: $2"; }
}
expect known '-- XNNPACK backend: on'
sed -i 's/xnn_run_operator/xnn_run_another/' "$work/root/usr/include/xnnpack.h"
expect unknown '-- XNNPACK backend: off, the interface in .*xnnpack.h is not one of those'

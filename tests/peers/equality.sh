#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# equality.sh SOURCE BUILD WORK MODELS [ARGUMENTS...]: equality.py, with packages of its own where Python has none; exit
# status 77 where they cannot be had. First it must find a program whose results are wrong.
set -euo pipefail

source=$1 build=$2 work=$3 models=$4
shift 4
mkdir -p "$work"
. "$source/tests/peers/packages.sh"

wrong=$work/wrong
mkdir -p "$wrong/converter" "$wrong/examples"
ln -sf "$build/converter/goldcrest-convert" "$wrong/converter/goldcrest-convert"
printf '#!/bin/sh\n"%s" "$@" | sed "s/ [0-9]* / 1 /"\n' "$build/examples/goldcrest-translate" \
  >"$wrong/examples/goldcrest-translate"
chmod +x "$wrong/examples/goldcrest-translate"
if "$python" "$source/tests/peers/equality.py" --build "$wrong" --work "$work/models" --models 4 >"$work/found" 2>&1 ||
    ! grep -q 'goldcrest departs' "$work/found"; then
  cat "$work/found"
  echo "equality.py does not find a program whose results are wrong"
  exit 1
fi
rm -rf "$work/models"
"$python" "$source/tests/peers/equality.py" --build "$build" --work "$work/models" --models "$models" "$@"

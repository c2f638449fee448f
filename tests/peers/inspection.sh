#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspection.sh SOURCE BUILD WORK MODELS: inspection.py, with packages of its own where Python has none; exit status 77
# where they cannot be had. First it must find a program whose token scores are wrong.
set -euo pipefail
source=$1 build=$2 work=$3 models=$4
mkdir -p "$work"
. "$source/tests/peers/packages.sh"

wrong=$work/wrong
mkdir -p "$wrong/converter" "$wrong/examples"
ln -sf "$build/converter/goldcrest-convert" "$wrong/converter/goldcrest-convert"
printf '#!/bin/sh\n"%s" "$@" | sed "s/-1[.]/-1.1/"\n' "$build/examples/goldcrest-translate" > "$wrong/examples/goldcrest-translate"
chmod +x "$wrong/examples/goldcrest-translate"
if "$python" "$source/tests/peers/inspection.py" --build "$wrong" --work "$work/models" --models 1 > "$work/found" 2>&1 ||
    ! grep -q '^goldcrest departs from transformers$' "$work/found"; then
  cat "$work/found"
  echo "inspection.py does not find a program whose token scores are wrong"
  exit 1
fi
rm -rf "$work/models"
"$python" "$source/tests/peers/inspection.py" --build "$build" --work "$work/models" --models "$models"

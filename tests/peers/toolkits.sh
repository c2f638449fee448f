#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# toolkits.sh SOURCE BUILD WORK MODELS TOOLKIT: toolkits.py, with packages of its own where Python has none; exit status 77
# where they cannot be had. First it must find a program whose ids are wrong.
set -euo pipefail
source=$1 build=$2 work=$3 models=$4 toolkit=$5
mkdir -p "$work"
. "$source/tests/peers/packages.sh"
. "$source/tests/peers/wrong_build.sh"

wrong_build 's/^[0-9]* /7 /'
if "$python" "$source/tests/peers/toolkits.py" "$toolkit" --build "$work/wrong" --work "$work/models" --models 1 \
    >"$work/found" 2>&1 || ! grep -q '^goldcrest departs from' "$work/found"; then
  cat "$work/found"
  echo "toolkits.py does not find a program whose ids are wrong"
  exit 1
fi
"$python" "$source/tests/peers/toolkits.py" "$toolkit" --build "$build" --work "$work/models" --models "$models"

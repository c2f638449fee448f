#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# toolkits.sh SOURCE BUILD WORK MODELS TOOLKIT: runs toolkits.py. Installs packages if Python has none; exits with 77 if
# they cannot be had. First the test must notice a program whose ids are wrong.
set -euo pipefail
source=$1 build=$2 work=$3 models=$4 toolkit=$5
mkdir -p "$work"
. "$source/tests/peers/packages.sh"
. "$source/tests/peers/wrong_build.sh"

wrong_build 's/^[0-9]* /7 /'
if "$python" "$source/tests/peers/toolkits.py" "$toolkit" --build "$work/wrong" --work "$work/models" --models 1 \
    >"$work/found" 2>&1 || ! grep -q '^goldcrest departs from' "$work/found"; then
  cat "$work/found"
  echo "toolkits.py does not notice a program whose ids are wrong"
  exit 1
fi
"$python" "$source/tests/peers/toolkits.py" "$toolkit" --build "$build" --work "$work/models" --models "$models"

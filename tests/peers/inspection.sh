#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspection.sh SOURCE BUILD WORK MODELS: runs inspection.py. Installs packages if Python has none; exits with 77 if
# they cannot be had. First the test must notice a program whose token scores are wrong.
set -euo pipefail
source=$1 build=$2 work=$3 models=$4
mkdir -p "$work"
. "$source/tests/peers/packages.sh"
. "$source/tests/peers/wrong_build.sh"

wrong_build 's/-1[.]/-1.1/'
if "$python" "$source/tests/peers/inspection.py" --build "$work/wrong" --work "$work/models" --models 1 > "$work/found" 2>&1 ||
    ! grep -q '^goldcrest departs from transformers$' "$work/found"; then
  cat "$work/found"
  echo "inspection.py does not notice a program whose token scores are wrong"
  exit 1
fi
rm -rf "$work/models"
"$python" "$source/tests/peers/inspection.py" --build "$build" --work "$work/models" --models "$models"

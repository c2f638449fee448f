#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# paper_decoding.sh SOURCE BUILD WORK MODELS: runs paper_decoding.py. Installs packages if Python has none; exits with
# 77 if they cannot be had. First the test must notice a program whose results are wrong.
set -euo pipefail
source=$1 build=$2 work=$3 models=$4
mkdir -p "$work"
. "$source/tests/peers/packages.sh"
. "$source/tests/peers/wrong_build.sh"

wrong_build 's/ [0-9]* / 1 /'
if "$python" "$source/tests/peers/paper_decoding.py" --build "$work/wrong" --work "$work/models" --models 1 >"$work/found" 2>&1 ||
    ! grep -q 'goldcrest departs' "$work/found"; then
  cat "$work/found"
  echo "paper_decoding.py does not notice a program whose results are wrong"
  exit 1
fi
rm -rf "$work/models"
"$python" "$source/tests/peers/paper_decoding.py" --build "$build" --work "$work/models" --models "$models" --base

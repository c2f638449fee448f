#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# equality.sh SOURCE BUILD WORK MODELS [ARGUMENTS...]: runs equality.py. Installs packages if Python has none; exits
# with 77 if they cannot be had. First the test must notice a program whose results are wrong.
set -euo pipefail

source=$1 build=$2 work=$3 models=$4
shift 4
mkdir -p "$work"
. "$source/tests/peers/packages.sh"
. "$source/tests/peers/wrong_build.sh"

wrong_build 's/ [0-9]* / 1 /'
if "$python" "$source/tests/peers/equality.py" --build "$work/wrong" --work "$work/models" --models 4 >"$work/found" 2>&1 ||
    ! grep -q 'goldcrest departs' "$work/found"; then
  cat "$work/found"
  echo "equality.py does not notice a program whose results are wrong"
  exit 1
fi
rm -rf "$work/models"
"$python" "$source/tests/peers/equality.py" --build "$build" --work "$work/models" --models "$models" "$@"

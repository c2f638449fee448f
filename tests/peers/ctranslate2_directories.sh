#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctranslate2_directories.sh SOURCE BUILD WORK MODELS SCRIPT: runs SCRIPT.py, which is ctranslate2_directories,
# ctranslate2_search or prefixes. Installs packages if Python has none; exits with 77 if they cannot be had. First the test must notice
# a program whose ids are wrong.
set -euo pipefail
source=$1 build=$2 work=$3 models=$4 script=$5
mkdir -p "$work"
more_modules=", ctranslate2, sentencepiece, yaml"
more_packages=(ctranslate2==4.8.5 sentencepiece==0.2.3 pyyaml==6.0.3)
. "$source/tests/peers/packages.sh"
. "$source/tests/peers/wrong_build.sh"

wrong_build 's/[0-9]* \([0-9]*\)$/7 \1/'
if "$python" "$source/tests/peers/$script.py" --build "$work/wrong" --work "$work/models" --models 1 > "$work/found" 2>&1 ||
    ! grep -q '^goldcrest departs from CTranslate2$' "$work/found"; then
  cat "$work/found"
  echo "$script.py does not notice a program whose ids are wrong"
  exit 1
fi
rm -rf "$work/models"
"$python" "$source/tests/peers/$script.py" --build "$build" --work "$work/models" --models "$models"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# equality.sh SOURCE BUILD WORK MODELS [ARGUMENTS...]: equality.py, with packages of its own where Python has none; exit
# status 77 where they cannot be had. First it must find a program whose results are wrong.
set -euo pipefail

source=$1 build=$2 work=$3 models=$4
shift 4
mkdir -p "$work"
python=python3
if ! python3 -c 'import torch, transformers' 2>"$work/problem"; then
  python=$work/python/bin/python
  if [[ ! -x $python ]] || ! "$python" -c 'import torch, transformers' 2>"$work/problem"; then
    if ! { python3 -m venv "$work/python" && "$work/python/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0; } \
        >"$work/problem" 2>&1; then
      echo "skipped: torch and transformers are not there and could not be installed:"
      tail -n 3 "$work/problem"
      exit 77
    fi
  fi
fi

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

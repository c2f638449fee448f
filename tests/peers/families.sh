#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# families.sh SOURCE BUILD WORK SEEDS: families.py and t5.py, with packages of its own where Python has none; exit status 77 where
# they cannot be had.
set -euo pipefail

source=$1 build=$2 work=$3 seeds=$4
mkdir -p "$work"
more_modules=', sentencepiece, safetensors' more_packages=(sentencepiece==0.2.1 protobuf)
. "$source/tests/peers/packages.sh"
"$python" "$source/tests/peers/families.py" --build "$build" --work "$work/models" --seeds "$seeds"
"$python" "$source/tests/peers/t5.py" --build "$build" --work "$work/t5" --seeds "$seeds"

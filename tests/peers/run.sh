#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SOURCE BUILD WORK SCRIPT ARGUMENTS...: runs SCRIPT.py of this folder with a build's programs, in WORK. Uses the
# machine's Python if it has torch, transformers and what else the script needs, else one with packages in WORK; exits
# with 77 if they cannot be had. First the script must notice a program whose results are wrong.
# `tutorials annalog` uses the trained model of PyPI's annalog 1.0.6, and runs none of its code.
set -euo pipefail
. "$(dirname "$0")/../common.sh"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) work=$3 script=$4
shift 4
mkdir -p "$work"

program=goldcrest-translate modules="torch, transformers" packages=(torch==2.13.0 transformers==5.23.0)
wrong='s/ [0-9]* / 1 /' few=(--models 1)  # what sed makes of wrong results, and arguments for a short run
case $script in
  ctranslate2_directories | ctranslate2_search | prefixes | sampling_rows)
    modules+=", ctranslate2, sentencepiece, yaml" packages+=(ctranslate2==4.8.5 sentencepiece==0.2.3 pyyaml==6.0.3)
    wrong='s/[0-9]* \([0-9]*\)$/7 \1/' ;;&
  sampling_rows) wrong='s/^[0-9]* /7 /' few=(--models 3) ;;
  argos)
    modules+=", ctranslate2, sentencepiece" packages+=(ctranslate2==4.8.5 sentencepiece==0.2.3)
    wrong='s/a/b/' few=(--lines 5) ;;
  marks)
    modules="sacrebleu, sentencepiece" packages=(sacrebleu==2.6.0 sentencepiece==0.2.3)
    wrong='s/<b>/<i>/' few=(--lines 20) ;;
  equality) few=(--models 4) ;;
  lexicons) wrong='s/[0-9]* \([0-9]*\)$/7 \1/' ;;
  families | t5 | tokenizer_json | added_tokens)
    modules+=", sentencepiece, safetensors" packages+=(sentencepiece==0.2.1 protobuf)
    few=(--seeds 1 --lines 15) ;;&
  tokenizer_json) modules+=", pycountry" packages+=(pycountry==24.6.1) ;;
  added_tokens)  # other versions of transformers may split otherwise
    modules+=", pycountry, tiktoken" packages=("${packages[@]/5.23/5.24}" tiktoken pycountry==24.6.1)
    few=(--lines 15) ;;
  families | t5)
    modules+=", ctranslate2, yaml" packages+=(ctranslate2==4.8.5 pyyaml==6.0.3) ;;
  voice) program=voice_probabilities wrong='s/^0/1/' modules=onnxruntime packages=(onnxruntime) few=(--noises 2) ;;
  times)
    program=goldcrest-transcribe wrong='s/\"end\":[0-9.]*/\"end\":9/g' modules+=", ctranslate2, tokenizers"
    packages+=(ctranslate2==4.8.5) few=() ;;
  speech | speech_equality)
    program=goldcrest-transcribe wrong='s/.*/7/' modules+=", safetensors" packages+=(safetensors==0.8.0) ;;
  home)
    [[ -d $source/../shared/data/speech/phrases ]] || skip "no clips in ../shared"
    program=goldcrest-transcribe wrong='s/.*/7/' few=(--clips 2) modules="faster_whisper, wyoming_bench"
    packages=(wyoming-bench==2026.10.0 wyoming-faster-whisper==3.8.1) ;;
  forecasts) modules+=", chronos" packages=(torch==2.13.0 chronos-forecasting==1.5.3) wrong='s/\t-/\t-9/' ;;
  images)
    program=goldcrest-read wrong='s/.*/7/' modules+=", safetensors, PIL; assert int(PIL.__version__.split('.')[0]) < 13"
    packages=("${packages[@]/5.23/5.24}" safetensors==0.8.0 pillow==12.0.0) ;;
  inspection) wrong='s/-1[.]/-1.1/' ;;
  toolkits | tutorials) wrong='s/^[0-9]* /7 /' ;;
esac

if [[ ${1:-} == annalog ]]; then
  unpack_from_pypi annalog==1.0.6 "$work/annalog"
  set -- --annalog "$work/annalog"
  few=()
fi
python=python3
if ! python3 -c "import $modules" 2>"$work/problem"; then
  python=$work/python/bin/python
  if [[ ! -x $python ]] || ! "$python" -c "import $modules" 2>"$work/problem"; then
    { python3 -m venv "$work/python" && "$python" -m pip install --quiet "${packages[@]}"; } >"$work/problem" 2>&1 ||
      skip "$modules are missing and could not be installed: $(tail -n 3 "$work/problem")"
  fi
fi

# A copy of the build whose program pipes its results through sed.
mkdir -p "$work/wrong/converter" "$work/wrong/examples"
ln -sf "$build/converter/goldcrest-convert" "$work/wrong/converter/goldcrest-convert"
ln -sf "$build/examples/goldcrest-serve" "$work/wrong/examples/goldcrest-serve"
printf '#!/bin/sh\n"%s" "$@" | sed "%s"\n' "$build/examples/$program" "$wrong" >"$work/wrong/examples/$program"
chmod +x "$work/wrong/examples/$program"
if "$python" "$source/tests/peers/$script.py" "$@" --build "$work/wrong" --work "$work/models" ${few[@]+"${few[@]}"} \
    >"$work/found" 2>&1 || ! grep -q departs "$work/found"; then
  cat "$work/found"
  echo "$script.py does not notice a program whose results are wrong"
  exit 1
fi
rm -rf "$work/models"
"$python" "$source/tests/peers/$script.py" "$@" --build "$build" --work "$work/models"

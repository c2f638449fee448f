#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a real Moonshine tiny on the emulated Cortex-M55: text and hash must be this machine's, and the arena for two
# seconds at most 750,000 bytes. GOLDCREST_MOONSHINE is the checkpoint's folder, GOLDCREST_MOONSHINE_CLIP a file of raw
# samples (16 bits, 16 kHz, one channel) of at most two seconds. Skipped without them. Runs a Whisper with a window of
# two seconds too, if GOLDCREST_WHISPER is its folder.
# Usage: real_speech.sh WORK_FOLDER HOST_BUILD CMAKE_OPTION...
set -euo pipefail
work=$1 build=$2 clip=${GOLDCREST_MOONSHINE_CLIP:-} converter=$2/converter/goldcrest-convert
shift 2
cd "$(dirname "$0")/../.."
. tests/common.sh
[ -n "${GOLDCREST_MOONSHINE:-}" ] && [ -n "$clip" ] ||
  skip "GOLDCREST_MOONSHINE and GOLDCREST_MOONSHINE_CLIP name no checkpoint and no clip"

# hear NAME FOLDER CMAKE_OPTION...: converts, and compares what the board hears with what this machine hears. Whisper's
# own limit is 448 ids.
hear() {
  local speech=$work/$1/speech board=$work/$1/board
  mkdir -p "$work/$1"
  "$converter" --quiet "$2" -o "$speech.gcst" --max-seconds 2 --encoder-rows 4 --max-target 13 --beam-size 1 \
    --force-end --budget arena=750000
  "$build/tests/kernels/golden_speech" "$speech.gcst" "$clip" "$speech"
  bash tests/boards/run_board.sh mps3-an547 "$board" "$build/tests/kernels/golden" "$converter" feature \
    "speech_test transcribe_firmware" -D GOLDCREST_TRANSCRIBE_MODEL="$speech.gcst" -D GOLDCREST_SPEECH_TABLES=1 \
    -D GOLDCREST_TRANSCRIBE_CLIP="$clip" -D GOLDCREST_TRANSCRIBE_HEARD="$speech" "${@:3}"
  grep -hE ' ids, hash | a second of sound|^stack ' "$board/Testing/Temporary/LastTest.log"
}

hear moonshine "$GOLDCREST_MOONSHINE" "$@"
if [ -n "${GOLDCREST_WHISPER:-}" ]; then hear whisper "$GOLDCREST_WHISPER" "$@"; fi

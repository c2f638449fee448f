#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a real Moonshine tiny on the emulated Cortex-M55: text and hash must be this machine's, and the arena for two
# seconds at most 750,000 bytes. GOLDCREST_MOONSHINE is the checkpoint's folder, GOLDCREST_MOONSHINE_CLIP a file of raw
# samples (16 bits, 16 kHz, one channel) of at most two seconds. Skipped without them. Runs a Whisper with a window of two
# seconds too, if GOLDCREST_WHISPER is its folder.
# Usage: real_speech.sh WORK_FOLDER HOST_BUILD CMAKE_OPTION...
set -euo pipefail
work=$1 build=$2
shift 2
if [ -z "${GOLDCREST_MOONSHINE:-}" ] || [ -z "${GOLDCREST_MOONSHINE_CLIP:-}" ]; then
  echo "real_speech.sh: skipped: GOLDCREST_MOONSHINE and GOLDCREST_MOONSHINE_CLIP name no checkpoint and no clip" >&2
  exit 77
fi
cd "$(dirname "$0")/../.."

# hear NAME FOLDER CMAKE_OPTION...: converts, and compares what the board hears with what this machine hears. A Whisper's
# own limit is 448 ids.
hear() {
  local name=$1 folder=$2
  shift 2
  mkdir -p "$work/$name"
  "$build/converter/goldcrest-convert" --quiet "$folder" -o "$work/$name/speech.gcst" --max-seconds 2 --encoder-rows 4 \
    --max-target 13 --beam-size 1 --force-end --budget arena=750000
  "$build/tests/kernels/golden_speech" "$work/$name/speech.gcst" "$GOLDCREST_MOONSHINE_CLIP" "$work/$name/speech"
  bash tests/boards/run_board.sh mps3-an547 "$work/$name/board" "$build/tests/kernels/golden" "$build/converter/goldcrest-convert" \
    feature "speech_test transcribe_firmware" -D GOLDCREST_TRANSCRIBE_MODEL="$work/$name/speech.gcst" \
    -D GOLDCREST_TRANSCRIBE_CLIP="$GOLDCREST_MOONSHINE_CLIP" -D GOLDCREST_TRANSCRIBE_HEARD="$work/$name/speech" \
    -D GOLDCREST_SPEECH_TABLES=1 "$@"
  grep -hE ' ids, hash | a second of sound|^stack ' "$work/$name/board/Testing/Temporary/LastTest.log"
}

hear moonshine "$GOLDCREST_MOONSHINE" "$@"
if [ -n "${GOLDCREST_WHISPER:-}" ]; then hear whisper "$GOLDCREST_WHISPER" "$@"; fi

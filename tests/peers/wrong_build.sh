# SPDX-License-Identifier: Apache-2.0
# The other tests in this folder source this file after they set $build and $work. wrong_build SED: makes $work/wrong, a
# copy of the build whose goldcrest-translate pipes its output through sed. Each test must notice the wrong output.
wrong_build() {
  mkdir -p "$work/wrong/converter" "$work/wrong/examples"
  ln -sf "$build/converter/goldcrest-convert" "$work/wrong/converter/goldcrest-convert"
  printf '#!/bin/sh\n"%s" "$@" | sed "%s"\n' "$build/examples/goldcrest-translate" "$1" >"$work/wrong/examples/goldcrest-translate"
  chmod +x "$work/wrong/examples/goldcrest-translate"
}

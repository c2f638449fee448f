# SPDX-License-Identifier: Apache-2.0
# For the tests beside this file, which source it with $build and $work set. wrong_build SED: makes $work/wrong, which is
# like the build but for its goldcrest-translate, whose output goes through sed. A test that does not find that is none.
wrong_build() {
  mkdir -p "$work/wrong/converter" "$work/wrong/examples"
  ln -sf "$build/converter/goldcrest-convert" "$work/wrong/converter/goldcrest-convert"
  printf '#!/bin/sh\n"%s" "$@" | sed "%s"\n' "$build/examples/goldcrest-translate" "$1" >"$work/wrong/examples/goldcrest-translate"
  chmod +x "$work/wrong/examples/goldcrest-translate"
}

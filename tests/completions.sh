#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the manual pages and completions of toolchains/shell again from the programs' tables of options, compares them,
# and tries them in each shell that is installed.
# Usage: completions.sh [--update] SOURCE WORK PROGRAM...
#   --update   writes what the programs print into SOURCE/toolchains/shell
set -euo pipefail
fail() { echo "completions.sh: $*" >&2; exit 1; }
update=0
if [ "$1" = --update ]; then update=1; shift; fi
pages=$(cd "$1" && pwd)/toolchains/shell
rm -rf "$2"
mkdir -p "$2"
work=$(cd "$2" && pwd)
shift 2
# path KIND PROGRAM: as they are installed in share/.
path() {
  case $1 in
    man) echo "$pages/man/man1/$2.1" ;;
    bash) echo "$pages/bash-completion/completions/$2" ;;
    zsh) echo "$pages/zsh/site-functions/_$2" ;;
    fish) echo "$pages/fish/vendor_completions.d/$2.fish" ;;
  esac
}
for program in "$@"; do
  for kind in man bash zsh fish; do
    page=$(path $kind "$(basename "$program")") made=$work/made
    "$program" --completion "$kind" > "$made"
    if [ $update = 1 ]; then cp "$made" "$page"; fi
    cmp "$page" "$made" || fail "run bash tests/completions.sh --update SOURCE WORK PROGRAM... and commit $page"
  done
done

# expect SHELL LINE WANTED UNWANTED: the words that complete the line have the one and not the other.
expect() {
  local words
  words=$("complete_in_$1" "$2" 2> "$work/errors") || fail "$1: $2: $(cat "$work/errors")"
  [[ " $words " == *"$3"* && " $words " != *"$4"* ]] || fail "$1: '$2' is completed with: $words"
}
complete_in_bash() {
  bash -c 'source "$1"; read -r -a COMP_WORDS <<< "${2//=/ = }"; [[ "$2" != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; "_${COMP_WORDS[0]//-/_}"; echo "${COMPREPLY[*]}"' - \
    "$(path bash "${1%% *}")" "$1"
}
complete_in_fish() {
  fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$(path fish "${1%% *}")" "$1" | cut -f 1 | tr '\n' ' '
}
# An interactive shell gets the line and two tabs.
complete_in_zsh() {
  zsh -f -c 'zmodload zsh/zpty
    zpty -b shell zsh -f -i
    say() { zpty -w shell "$1"; }
    say "PROMPT=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -d $3; echo re""ady"
    zpty -r -m shell line "*ready*"
    zpty -n -w shell "$2"$'\''\t\t'\''
    sleep 1
    while zpty -r -t shell line; do print -rn -- "$line"; done' - "$pages/zsh/site-functions" "$1" "$work/dump"
}
tried=()
for shell in bash fish zsh; do
  command -v "$shell" > /dev/null || continue
  tried+=("$shell")
  expect "$shell" 'goldcrest-convert model --accura' --accuracy --max-loss
  expect "$shell" 'goldcrest-convert model --metric ' chrf --accuracy
  expect "$shell" 'goldcrest-translate model --length-penalty-ki' --length-penalty-kind --lexicon
done
expect bash 'goldcrest-convert model --weights=fl' float32 int8
expect bash 'goldcrest-convert model --threads ' '' --
for page in "$pages"/man/man1/*.1; do
  if command -v mandoc > /dev/null; then mandoc -T lint -W error "$page" || fail "mandoc: $page"; fi
  if command -v man > /dev/null; then
    man --warnings -l "$page" > "$work/page.txt" 2> "$work/errors" && [ ! -s "$work/errors" ] ||
      fail "man: $page: $(cat "$work/errors")"
    grep -q -- '--help-all' "$work/page.txt" || fail "man: $page has no --help-all"
  fi
done
echo "completions.sh: $# programs, tried in ${tried[*]}"

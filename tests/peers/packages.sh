# SPDX-License-Identifier: Apache-2.0
# For the tests beside this file, which source it with $work set: sets $python to a Python that has torch and transformers,
# the machine's own or one with packages under $work. Ends with status 77 where they cannot be had.
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

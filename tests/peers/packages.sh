# SPDX-License-Identifier: Apache-2.0
# The other tests in this folder source this file after they set $work. It sets $python to a Python that has torch and
# transformers: the machine's own, or one with packages under $work. It exits with 77 if they cannot be had. A test may
# first set $more_modules to further modules (", ctranslate2"), and the array more_packages to the packages that have
# them.
python=python3 modules="torch, transformers${more_modules:-}"
if ! python3 -c "import $modules" 2>"$work/problem"; then
  python=$work/python/bin/python
  if [[ ! -x $python ]] || ! "$python" -c "import $modules" 2>"$work/problem"; then
    if ! { python3 -m venv "$work/python" && "$work/python/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 \
        ${more_packages[@]+"${more_packages[@]}"}; } >"$work/problem" 2>&1; then
      echo "skipped: $modules are missing and could not be installed:"
      tail -n 3 "$work/problem"
      exit 77
    fi
  fi
fi

# Into the image's own Python where that can be written, else for the user that the container runs as.
install() {
  set -- -m pip install --disable-pip-version-check --no-input "$@"
  if step env PIP_BREAK_SYSTEM_PACKAGES=1 "$python" "$@"; then
    return
  fi
  echo "launch: pip can't install into the image, trying with --user" >&2
  PYTHONUSERBASE=${PYTHONUSERBASE:-/tmp/tau-python}
  PATH=$PYTHONUSERBASE/bin:$PATH
  export PATH PYTHONUSERBASE
  step env PIP_BREAK_SYSTEM_PACKAGES=1 "$python" "$@" --user
}

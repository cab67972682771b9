#!/bin/sh
# Checks out TAU_GIT_COMMIT of TAU_GIT_URL into TAU_GIT_ROOT, with the key or token in the file TAU_GIT_KEY where there is one.
set -eu
if ! command -v git >/dev/null; then
  echo "checkout: this image has no git: install it there, or deliver the code with the image (code.delivery: image)" >&2
  exit 1
fi
umask 022
export HOME="${TMPDIR:-/tmp}" GIT_TERMINAL_PROMPT=0
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$TAU_GIT_ROOT" GIT_CONFIG_KEY_1=advice.detachedHead GIT_CONFIG_VALUE_1=false
if [ -n "${TAU_GIT_KEY-}" ]; then
  case $TAU_GIT_URL in
    https://* | http://*)
      export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_2=credential.helper
      # Read when Git asks, so that the token is in no command line. USER:TOKEN, or a token alone.
      # shellcheck disable=SC2016
      export GIT_CONFIG_VALUE_2='!f() { test "$1" = get || return 0; t=$(cat "$TAU_GIT_KEY"); case $t in *:*) echo "username=${t%%:*}";; *) echo username=x-access-token;; esac; echo "password=${t#*:}"; }; f'
      ;;
    *)
      # ssh refuses a key that others could read, which a mounted secret may be.
      (umask 077 && cat "$TAU_GIT_KEY" >"$HOME/tau-git-key" && echo >>"$HOME/tau-git-key")
      export GIT_SSH_COMMAND="ssh -i $HOME/tau-git-key -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=$HOME/tau-known-hosts"
      ;;
  esac
fi
cd "$TAU_GIT_ROOT"
git init -q .
# Most servers give a commit by its id; the others give everything.
git fetch -q --no-tags --depth 1 -- "$TAU_GIT_URL" "$TAU_GIT_COMMIT" || git fetch -q -- "$TAU_GIT_URL" '+refs/*:refs/fetched/*'
git checkout -q --detach "$TAU_GIT_COMMIT"
if [ "$(git rev-parse HEAD)" != "$TAU_GIT_COMMIT" ]; then
  echo "checkout: got $(git rev-parse HEAD) instead of $TAU_GIT_COMMIT" >&2
  exit 1
fi
if [ -n "${TAU_GIT_PROGRAM-}" ]; then chmod a+x -- "$TAU_GIT_PROGRAM"; fi

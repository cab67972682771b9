# shellcheck shell=sh
# What all checks share. A check prints "DEVICE VALUE WORDS..." a line and ends with 0; a value of ? is a device that could not be judged. It
# ends with 1 and a sentence when something is wrong beyond doubt, with 2 and a sentence when it could not tell. Time is kept by its caller.

LC_ALL=C
export LC_ALL
# shellcheck disable=SC2034 # by the checks
root=${GPUHEALTH_ROOT:-}
answer=${GPUHEALTH_TMP:-/tmp}/answer

unknown() {
  printf '%s\n' "$1"
  exit 2
}

problem() {
  printf '%s\n' "$1"
  exit 1
}

# The beginning of what a program said.
first() {
  head -n 1 "$answer" | tr -cd '[:print:]' | cut -c 1-160
}

# Runs a program: its words go to the file $answer, its exit code to $code.
ask() {
  command -v "$1" >/dev/null 2>&1 || unknown "$1 is not there"
  code=0
  "$@" >"$answer" 2>&1 || code=$?
}

# nvidia-smi, where anything but success leaves the question open.
smi() {
  ask nvidia-smi "$@"
  [ "$code" -eq 0 ] || unknown "nvidia-smi ended with $code: $(first)"
}

# The answer is not what the check knows: awk programs end with 3 then.
garbage() {
  unknown "the answer is not understood: $(first)"
}

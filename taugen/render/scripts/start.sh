# Until it starts the program this shell is process 1, and the kernel gives process 1 only the signals that it handles.
# A signal may come right after a step has begun: $! is known then, a variable of our own would not be.
running=
trap '[ -z "$running" ] || kill -TERM "${!:-}" 2>/dev/null; exit 143' INT TERM
step() {
  running=1
  "$@" &
  status=0
  wait "$!" || status=$?
  running=
  return "$status"
}

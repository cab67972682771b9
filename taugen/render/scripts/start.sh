# Until it starts the program this shell is process 1, and the kernel gives process 1 only the signals that it handles.
child=
trap '[ -z "$child" ] || kill -TERM "$child" 2>/dev/null; exit 143' INT TERM
step() {
  "$@" &
  child=$!
  status=0
  wait "$child" || status=$?
  child=
  return "$status"
}

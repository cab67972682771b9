# Sets TAU_RESUME_FROM to the newest complete checkpoint, then becomes the program. Without Python the value of the manifest stays.
resume() {
  for candidate in "$python" python3 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
      exec "$candidate" -I /tau/launch/tau_checkpoint.py start "$@"
    fi
  done
  echo "launch: no Python to look for checkpoints with, resuming from '$TAU_RESUME_FROM'" >&2
  while [ "$1" != -- ]; do shift; done
  shift
  exec "$@"
}

# KubeRay runs this in the shell that starts Ray next. Where the setup lines fail on the head, Ray starts all the same, so that the job
# fails instead of waiting for a head that never comes; a worker ends and is replaced.
if bash -ec '. /tau/launch/setup.sh; export -p >/tmp/tau-setup.env' && . /tmp/tau-setup.env; then
  :
elif [ "$1" = head ]; then
  touch /tmp/tau-setup.failed
else
  exit 1
fi

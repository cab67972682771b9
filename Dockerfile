# The compiler with git, for CI systems that run containers:
#   docker build -t taugen .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/repo" taugen check
FROM docker.io/library/python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --disable-pip-version-check --wheel-dir /wheels ".[store]"

FROM docker.io/library/python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
# git's version is the distribution's: security updates come with it.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client \
    && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --disable-pip-version-check --no-index --find-links /wheels /wheels/*.whl
# ssh wants a name for who runs it.
RUN useradd --uid 65532 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin taugen
# Nobody: the container needs no more than to read the repository that is mounted.
USER 65532:65532
WORKDIR /repo
ENTRYPOINT ["taugen"]
CMD ["--help"]

"""."""

import taugen.spec  # noqa: F401 - before pydantic is loaded: it decides how

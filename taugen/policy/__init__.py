"""Policy as typed values: clusters, queues, profiles, workspaces, storage, node health.

In: the policy files of a source tree. Out: a `Policy` with lookups, and findings at the place of each fault. A document that can't be read
whole is kept as far as it can be, so that one fault does not make ten.
"""

import taugen.spec  # noqa: F401 - before pydantic is loaded: it decides how

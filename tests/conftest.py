"""How property tests choose their examples.

A change is judged by the same examples each time: it must not fail for what somebody else's commit left. `make search` looks for new ones.
"""

import os

from hypothesis import settings

settings.register_profile("judge", derandomize=True)
settings.register_profile("search", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile("search" if os.environ.get("TAUGEN_SEARCH") else "judge")

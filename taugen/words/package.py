"""Where the files of this package are.

In: nothing. Out: its folder. `importlib.resources` says the same, and loads temporary files, archives and their compressors for it.
"""

from pathlib import Path

FOLDER = Path(__file__).parent.parent

"""Rules of stage `run`, in alphabetical order; each is one module with `ID` and `check`."""

RULES = ()

"""Rules of stage `objects`, in alphabetical order; each is one module with `ID` and `check`."""

RULES = ()

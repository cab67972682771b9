"""Rules of stage `document`, in alphabetical order; each is one module with `ID` and `check`."""

RULES = ()

"""The rules by stage: `document`, `policy`, `run`, `objects`; one rule a file, with its `ID` and `check`."""

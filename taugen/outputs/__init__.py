"""Writers: one module a format, each `write(report, …) -> str`.
Text is for people, the others for machines; none decides what is a finding."""

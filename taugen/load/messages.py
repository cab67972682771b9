"""What commit messages say.

In: a message. Out: the lines at its end that are made for programs, as `git interpret-trailers` has them.
"""


def trailers(message: str) -> dict[str, list[str]]:
    """The ``Key: value`` lines that end a commit message, by key in their order; {} unless the whole last paragraph is of that form."""
    paragraphs = [p for p in message.strip().split("\n\n") if p.strip()]
    found: dict[str, list[str]] = {}
    if len(paragraphs) < 2:
        return found
    for line in paragraphs[-1].splitlines():
        key, colon, value = line.partition(":")
        if not colon or not key.replace("-", "").isalnum():
            return {}
        found.setdefault(key, []).append(value.strip())
    return found

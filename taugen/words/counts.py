"""Numbers with the word for what was counted, as people write them."""


def counted(number: int, word: str) -> str:
    """``1 file``, ``2,000 files``: `word` in the singular, made plural by an s."""
    return f"{number:,} {word}" + "s" * (number != 1)

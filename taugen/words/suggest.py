"""What a misspelt word was meant to be.

In: a word and the words that are known. Out: the nearest known one, or none when nothing is near enough to be more than a guess.
"""

from collections.abc import Iterable, Sequence


def closest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that differs least: equal but for case, else by edits, at most a third of the word (1 to 6). Ties go to the first."""
    known = list(dict.fromkeys(choices))
    folded = word.casefold()
    for choice in known:
        if choice.casefold() == folded:
            return choice
    best, limit = None, max(1, min(len(word) // 3, 6))
    for choice in known:
        if abs(len(choice) - len(word)) <= limit and (distance := levenshtein(folded, choice.casefold(), limit)) <= limit:
            best, limit = choice, distance - 1
    return best


def one_of(choices: Sequence[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    return " or ".join(filter(None, (", ".join(choices[:-1]), *choices[-1:])))


def levenshtein(first: str, second: str, most: int) -> int:
    """How many insertions, deletions, replacements and swaps of neighbours lie between; `most` + 1 for all above `most`."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most and (not before or min(before) > most):
            return most + 1
    return min(row[-1], most + 1)

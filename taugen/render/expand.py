"""Text that Kubernetes expands, and how to keep it as typed.

In: the text of an environment variable, an argument or a command. Out: the text to write into a manifest so that the program gets what was
typed.

The kubelet replaces ``$(NAME)`` by a variable it knows and ``$$`` by ``$``; every other ``$`` stays (Kubernetes
third_party/forked/golang/expansion)."""

from collections.abc import Mapping

from taugen.words.regex import regex

_ACTIVE = regex(r"\$(?=[$(])")


def escape(text: str) -> str:
    """The text that expands to `text` whatever variables are known: a ``$`` is doubled only before another or before ``(``."""
    return _ACTIVE.sub("$$", text) if "$" in text else text


def expand(text: str, known: Mapping[str, str]) -> str:
    """What the kubelet makes of `text`: the model that `escape` is proven against."""
    out: list[str] = []
    at = 0
    while at < len(text):
        char, following = text[at], text[at + 1 : at + 2]
        if char != "$" or not following:
            out.append(char)
            at += 1
        elif following == "(" and (end := text.find(")", at)) > 0:
            name = text[at + 2 : end]
            out.append(known.get(name, f"$({name})"))
            at = end + 1
        else:
            out.append("$" if following == "$" else "$" + following)
            at += 2
    return "".join(out)

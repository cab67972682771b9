"""Mutants of a document: one or two mistakes, as a person, a program or an attacker would make them.

In: a document as plain data, and a seeded random source. Out: its text with the mistakes in it, and what was done. The text is written here, not by
a YAML library: a mutant may hold text that no library would write.
"""

import copy
import json
from random import Random
from typing import Any, NamedTuple


class Raw(str):
    """A scalar that goes into the text as it is."""

    __slots__ = ()


class Mutant(NamedTuple):
    """The text, and what was done to it in a few words."""

    text: bytes
    done: str


LONG = "x" * 5000
NASTY: tuple[Any, ...] = (
    # plain values of every kind
    None, True, False, 0, 1, -1, 2, 8, 9, 63, 64, 999, 1000, 100_000, 100_001, 2**31, 2**63, 2**64, 10**30, 0.5, -0.5, 1.5, [], {}, "",
    [None], [1], ["a"], [[]], [{}], {"a": None}, {"a": {"a": {"a": []}}}, [True], ["a", "a"],
    # numbers and quantities as people and attackers type them
    *map(Raw, (
        "1e3", "1e999", "-1e999", "1e-999", "0x10", "0o17", "017", "1_000", ".5", "5.", "+1", "-0", "--1", "1,5", ".inf", "-.inf", ".nan", "1e", "e1",
        "64Gi", "64GB", "64G b", "64gi", "64 Gi", "-64Gi", "1.5Gi", "0.0000001", "1e30Gi", "500m", "0.1m", "1Ki", "9999999999Ei", "９", "٣", "1²", "∞",
        "12:30", "2026-01-01", "2026-01-01T00:00:00Z", "yes", "no", "on", "off", "y", "~", "null", "Null", "True", "1h", "-1h", "1h30m", "1.5h", "1d", "0s", "99999999h", "1y",
    )),
    # text
    " ", "a b", " a", "a ", "A", "-a", "a-", "a.b", "a_b", "a/b", "a:b", "a=b", "a,b", "a\\b", "a\"b", "a'b", "a\nb", "a\tb", "a\rb", "a\0b", "\x1b[31mred", "\x07", "\x7f", "\x85", "\x9b1m",
    "\u202eabc", "a\u200bb", "\u2028", "\ufeff", "аbc", "ａbc", "é", "日本", "𝒳", "🙂", "\ud83d\ude42", "ﬁ", "İ",
    "::error file=x::y", "::add-mask::x", "##vso[task.complete]", "%0A::error::x", "<script>alert(1)</script>", "[x](javascript:y)", "`id`", "$(id)", "${HOME}", "$HOME", "$$", "%s%n%d", "{{ x }}", "{% raw %}",
    "..", ".", "/", "//", "../x", "../../x", "../../../../../etc/passwd", "/etc/passwd", "/..", "a/../b", "a/./b", "a//b", "./a", "~/x", "C:\\x", "\\\\x", "a/", "/a/", "/tau/code", "/dev/shm", "/data/../etc",
    "-", "--", "---", "...", "-x", "--help", "*", "**", "?", "[", "]", "[a", "!", "&a", "*a", "%a", "@a", "|", ">", "#a", "a#b", "a #b", ": ", "a: b", "{", "}", "'", '"', "<<", "=",
    "true", "null", "123", "1.0", "0", "a" * 48, "a" * 63, "a" * 64, "a" * 253, "a" * 254, LONG,
    "kubernetes.io/x", "x.k8s.io/y", "kueue.x-k8s.io/queue-name", "nvidia.com/gpu", "MASTER_ADDR", "TAU_X", "NCCL_X", "LD_PRELOAD", "PATH",
    "https://user:hunter2hunter2@host.example/x", "AKIAIOSFODNN7EXAMPLE", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "-----BEGIN PRIVATE KEY-----", "ext::sh -c id", "file:///etc", "--upload-pack=id", "git@host:x",
    "registry.tern.example/a/b", "registry.tern.example/a/b:latest", "docker.io/rayproject/ray:2.51.0", "ray", "a:b:c", "A/B", "a@sha256:0", "a@sha256:" + "0" * 64,
    "train.py", "tau.yaml", "python", "auto", "default", "any", "cpu", "gpu", "job", "rayjob", "jobset", "l40s-small", "h200-node", "speech", "climate", "fjord", "mesa", "audio", "grids", "checkpoints", "audio:/data", "x=pvc:y",
    "speech/x/01234567", "same-host", "same-site", "torchrun", "ray-tune", "restricted", "tracker:key",
)  # fmt: skip
KEYS = (
    "", " ", "x", "X", "a b", "a.b", "a/b", "<<", "~", "null", "true", "no", "1", "-", "?", "é", "аpi", "\u202ex", "x\n", "x\0", "\x1b[31m", "::error::x", LONG, "name", "names", "Name", "NAME", "spec",
    "metadata", "kind", "apiVersion", "labels", "image", "gpus", "gpu", "nodes", "env", "path", "queue", "accelerators", "num_nodes", "instance_count", "resources", "min", "max", "oneOf", "nominal",
)  # fmt: skip
_CHARACTERS = "\t\n\r \0\x07\x1b\x7f\x85\xa0\u200b\u202e\u2028\ufeff:#-?[]{}&*!|>'\"%@`,\\~aA0é🙂"


def write(data: Any, *, flow: bool = False) -> str:
    """YAML text of plain data: block style, or flow style throughout."""
    return (_flow(data) if flow else "".join(_block(data, 0)).lstrip("\n")) + "\n"


def _scalar(value: Any) -> str:
    if isinstance(value, Raw):
        return str(value)
    if value is None:
        return "null"
    if isinstance(value, str):
        plain = (
            value.isascii()
            and value.replace("-", "").replace("/", "").replace(".", "").isalnum()
            and value[0].isalpha()
            and value.lower() not in _WORDS
        )
        return value if plain else json.dumps(value)
    return json.dumps(value)


_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _key(key: Any) -> str:
    return _scalar(key)[:900]  # longer keys are no keys in YAML


def _block(value: Any, depth: int) -> list[str]:
    pad = "\n" + "  " * depth
    if isinstance(value, dict) and value:
        return [part for key, item in value.items() for part in (f"{pad}{_key(key)}:", *_below(item, depth + 1))]
    if isinstance(value, list) and value:
        return [part for item in value for part in (f"{pad}-", *_below(item, depth + 1))]
    return [" " + _flow(value)]


def _below(value: Any, depth: int) -> list[str]:
    return _block(value, depth) if isinstance(value, dict | list) and value else [" " + _flow(value)]


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value below the root."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    found = []
    for key, value in items:
        found += [(*path, key), *places(value, (*path, key))]
    return found


def _parent(data: Any, path: tuple[Any, ...]) -> Any:
    for part in path[:-1]:
        data = data[part]
    return data


def _one(data: Any, random: Random, fields: tuple[tuple[Any, ...], ...]) -> str:
    """One mistake in the data; `fields` are places where fields could stand that are not there."""
    found = places(data)
    path = random.choice(found)
    parent, key = _parent(data, path), path[-1]
    shown = ".".join(map(str, path))
    match random.choice(("value", "value", "value", "value", "delete", "rename", "add", "field", "field", "wrap", "copy", "swap", "case")):
        case "value":
            parent[key] = copy.deepcopy(random.choice(NASTY))
            return f"{shown} = {str(parent[key])[:60]!r}"
        case "delete":
            del parent[key]
            return f"{shown} deleted"
        case "rename" if isinstance(parent, dict):
            new = random.choice(KEYS) if random.random() < 0.5 else _typo(str(key), random)
            items = [(new if k == key else k, v) for k, v in parent.items()]
            parent.clear()
            parent.update(items)
            return f"{shown} renamed {new[:40]!r}"
        case "add" if isinstance(parent, dict):
            new = random.choice(KEYS)
            parent[new] = copy.deepcopy(random.choice(NASTY))
            return f"{shown} beside it {new[:40]!r}: {str(parent[new])[:40]!r}"
        case "field" if fields:
            place = random.choice(fields)
            there: Any = data
            for part in place[:-1]:
                there = there.setdefault(part, {}) if isinstance(there, dict) else None
            if isinstance(there, dict):
                there[place[-1]] = copy.deepcopy(random.choice(NASTY))
                return f"{'.'.join(place)} = {str(there[place[-1]])[:60]!r}"
            return "nothing"
        case "wrap":
            parent[key] = random.choice(([parent[key]], {"x": parent[key]}, [parent[key], parent[key]]))
            return f"{shown} wrapped"
        case "copy":
            other = random.choice(found)
            parent[key] = copy.deepcopy(_parent(data, other)[other[-1]])
            return f"{shown} = that of {'.'.join(map(str, other))}"
        case "swap":
            other = random.choice(found)
            if path[: len(other)] != other and other[: len(path)] != path:
                there = _parent(data, other)
                parent[key], there[other[-1]] = there[other[-1]], parent[key]
                return f"{shown} swapped with {'.'.join(map(str, other))}"
            return "nothing"
        case _:
            if isinstance(parent[key], str) and parent[key]:
                parent[key] = _typo(parent[key], random)
                return f"{shown} = {parent[key][:60]!r}"
            return "nothing"


def _typo(word: str, random: Random) -> str:
    at = random.randrange(len(word)) if word else 0
    return random.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at : at + 1] * 2 + word[at + 1 :],
            word.upper(),
            word + random.choice(_CHARACTERS),
            word[::-1],
        )
    )


def _garbled(text: str, random: Random) -> tuple[str, str]:
    """A mistake in the text itself: a line or some characters lost, doubled, moved or put in."""
    lines = text.split("\n")
    at = random.randrange(len(lines))
    match random.choice(("character", "character", "lose", "double", "indent", "cut", "join", "move", "ends")):
        case "character":
            place, char = random.randrange(len(text) + 1), random.choice(_CHARACTERS)
            return text[:place] + char + text[place:], f"{char!r} at {place}"
        case "lose":
            del lines[at]
            return "\n".join(lines), f"line {at + 1} lost"
        case "double":
            lines.insert(at, lines[at])
            return "\n".join(lines), f"line {at + 1} twice"
        case "indent":
            lines[at] = random.choice((" ", "  ", "\t", "- ", "? ", "# ", "!!str ", "&a ", "  - ")) + lines[at]
            return "\n".join(lines), f"line {at + 1} begins {lines[at][:4]!r}"
        case "cut":
            place = random.randrange(len(text))
            return text[:place], f"cut at {place}"
        case "join":
            return "\n".join(lines[:at] + ["".join(lines[at : at + 2])] + lines[at + 2 :]), f"lines {at + 1} and {at + 2} joined"
        case "move":
            lines.insert(random.randrange(len(lines)), lines.pop(at))
            return "\n".join(lines), f"line {at + 1} moved"
        case _:
            end = random.choice(("\r\n", "\r", "\n\n", " \n", "\n---\n", "\x85"))
            return text.replace("\n", end), f"line ends {end!r}"


def mutant(documents: list[Any], random: Random, fields: tuple[tuple[Any, ...], ...] = (), *, most: int = 3) -> Mutant:
    """A mutant of a file of documents: `most` mistakes at the most, one mostly."""
    documents = copy.deepcopy(documents)
    done = []
    if random.random() < 0.85:
        for _ in range(random.choice((1, 1, 1, 1, 2, most))):
            document = random.choice(documents)
            if document:
                done.append(_one(document, random, fields))
    text = "---\n".join(write(document, flow=random.random() < 0.1) for document in documents)
    if not done or random.random() < 0.05:
        text, how = _garbled(text, random)
        done.append(how)
    return Mutant(text.encode("utf-8", "surrogatepass"), "; ".join(done))

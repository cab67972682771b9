"""PyYAML's C composer against ruamel.yaml's: nodes with positions for the same tau.yaml files.

In: how many files. Out: seconds a file, each the best of five passes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import repository


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds a file."""

    pyyaml: float
    ruamel: float


def measure(count: int) -> Result:
    """Compose the first `count` documents of the generated repository with both."""
    texts = [content.decode() for path, content in repository.files(count) if path.endswith("tau.yaml")]
    return Result(_best(_pyyaml, texts), _best(_ruamel(), texts))


def _best(compose: Callable[[str], object], texts: list[str]) -> float:
    passes = []
    for _ in range(5):
        begin = time.perf_counter()
        for text in texts:
            compose(text)
        passes.append((time.perf_counter() - begin) / len(texts))
    return min(passes)


def _pyyaml(text: str) -> object:
    import yaml

    return yaml.compose(text, Loader=yaml.CSafeLoader)


def _ruamel() -> Callable[[str], object]:
    """One object for all texts, as its documentation has it."""
    from ruamel.yaml import YAML

    composer: Callable[[str], object] = YAML(typ="safe", pure=False).compose
    return composer

"""The intent digest: what changes it, what doesn't, and examples that hold for ever."""

import hashlib
import json
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from taugen.spec.digest import intent
from taugen.spec.read import read_file
from taugen.spec.rundoc import RunDoc

GOLDEN = json.loads((Path(__file__).parent / "golden_digests.json").read_text())


def read(text: str, file: str = "workspaces/w/x/tau.yaml", workspace: str = "w") -> RunDoc:
    docs, found = read_file(file, text.encode(), workspace)
    assert not found
    return docs[0]


def digest(text: str) -> str:
    return read(f"name: a\n{text}\n").digest


@pytest.mark.parametrize("example", GOLDEN, ids=[e["name"] for e in GOLDEN])
def test_published_digests_never_change(example: dict[str, str]) -> None:
    # If this fails, do not touch the golden file: every run that somebody has published under the old digest would be submitted again.
    assert read(example["text"]).digest == example["digest"]


def test_there_are_enough_examples_and_all_differ() -> None:
    assert len({e["digest"] for e in GOLDEN}) == len(GOLDEN) >= 30


@pytest.mark.parametrize("example", GOLDEN, ids=[e["name"] for e in GOLDEN])
def test_the_digest_is_sha256_of_rfc_8785_of_the_intent(example: dict[str, str]) -> None:
    doc = read(example["text"])
    data = intent(doc.document, doc.spec, managed=doc.dialect == "managed")
    assert data["intent"] == "v1"
    assert hashlib.sha256(rfc8785.dumps(data)).hexdigest() == doc.digest


SAME = [
    ("compute: {cpus: 8}", "compute: {cpus: '8'}"),
    ("compute: {cpus: 8}", "compute: {cpus: 8000m}"),
    ("compute: {cpus: 8}", "compute: {cpus: 8.0}"),
    ("compute: {memory: 64Gi}", "compute: {memory: 65536Mi}"),
    ("compute: {memory: 64Gi}", "compute: {memory: ' 64GiB'}"),
    ("compute: {memory: 64G}", "compute: {memory: 64GB}"),
    ("compute: {gpus: 8}", "compute: {gpus: 0x8}"),
    ("run: {max_duration: 60s}", "run: {max_duration: 1m}"),
    ("run: {max_duration: 3d}", "run: {max_duration: 72h}"),
    ("generation: 1", ""),
    ("generation:", ""),
    ("compute: {}", ""),
    ("compute:", ""),
    ("compute: {head: {}, rdma: {}}", ""),
    ("runtime: {env: {}}", ""),
    ("execution: {configs: {}}", ""),
    ("description: x", ""),
    ("cancelled: true", ""),
    ("on_edit: beside", ""),
    ("workspace: w", ""),
    ("policy: {namespace: x}", ""),
    ("policy: {queue: auto}", ""),
    ("runtime: {env: {A: 1}}", "runtime: {env: {A: '1'}}"),
    ("runtime: {env: {A: true}}", "runtime: {env: {A: 'true'}}"),
    ("runtime: {env: {A: x, B: y}}", "runtime: {env: {B: y, A: x}}"),
    ("runtime: {env: [{name: A, value: 1}]}", "runtime: {env: {A: 1}}"),
    ("run: {args: [1, 2.0]}", "run: {args: ['1', '2.0']}"),
    ("labels: {a: 1.0}", "labels: {a: '1.0'}"),
    ("resilience: {retry_on: [Evicted, Error]}", "resilience: {retry_on: [Error, Evicted, Error]}"),
    ("resilience: {fatal_exit_codes: [3, 1]}", "resilience: {fatal_exit_codes: [1, 3]}"),
    ("model: {tags: [b, a]}", "model: {tags: [a, b]}"),
    ("execution: {configs: {a: 1}}", "execution: {configs: {a: '1'}}"),
    ("experiment: {hyperparameters: {a: TRUE}}", "experiment: {hyperparameters: {a: true}}"),
    ("experiment: {hyperparameters: {a: 'x'}}", "experiment: {hyperparameters: {a: x}}"),
    ("policy: {node_affinity: [{key: a, operator: In, values: [x]}]}", "policy: {node_affinity: [{key: a, values: [x]}]}"),
    ("cancelled: false", ""),
    ("run: {setup: \"a\\nb\\n\"}", "run:\n  setup: |\n    a\n    b"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), SAME)
def test_the_same_intent(first: str, second: str) -> None:
    assert digest(first) == digest(second)


OTHER = [
    ("name: b", ""),
    ("generation: 2", ""),
    ("compute: {memory: 64G}", "compute: {memory: 64Gi}"),
    ("run: {args: [a, b]}", "run: {args: [b, a]}"),
    ("runtime: {pip: [a, b]}", "runtime: {pip: [b, a]}"),
    ("runtime: {pip: []}", ""),
    ("runtime: {env: {A: ''}}", ""),
    ("runtime: {env: {A: 1.0}}", "runtime: {env: {A: 1}}"),
    ("runtime: {env: {A: s:k}}", "runtime: {env_secret: {A: s:k}}"),
    ("code: {include: [a, '!b']}", "code: {include: ['!b', a]}"),
    ("run: {entrypoint: a}", "run: {entrypoint: [a]}"),
    ("storage: {mounts: []}", ""),
    ("execution: {launcher: python, configs: {a: 7e-2}}", "execution: {launcher: python, configs: {a: 0.07}}"),
    ("execution: {launcher: ray-tune, configs: {a: 7e-2}}", "execution: {launcher: ray-tune, configs: {a: 0.07}}"),
    ("execution: {launcher: ray-tune, configs: {a: 1}}", "execution: {launcher: ray-tune, configs: {a: '1'}}"),
    ("execution: {launcher: ray-tune, configs: {a: 1}}", "execution: {launcher: ray-tune, configs: {a: 1.0}}"),
    ("execution: {launcher: ray-tune, configs: {a: {}}}", "execution: {launcher: ray-tune, configs: {a: []}}"),
    ("execution: {launcher: ray-tune, configs: {a: null}}", "execution: {launcher: ray-tune, configs: {a: 'null'}}"),
    ("execution: {launcher: ray-tune, configs: {a: true}}", "execution: {launcher: ray-tune, configs: {a: 'true'}}"),
    ("experiment: {hyperparameters: {a: 1e3}}", "experiment: {hyperparameters: {a: 1000}}"),
    ("experiment: {hyperparameters: {a: '\"x'}}", "experiment: {hyperparameters: {a: x}}"),
    ("experiment: {seed: 18446744073709551615}", "experiment: {seed: 18446744073709551614}"),
    ("policy: {queue: q}", ""),
    ("schema_version: 1", ""),
    ("run: {ttl_seconds_after_finished: 600}", ""),
]


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_another_intent(first: str, second: str) -> None:
    one = read(first + "\n").digest if first.startswith("name") else digest(first)
    assert one != digest(second)


def test_the_place_of_the_file_is_no_part_of_it() -> None:
    text = "name: a\ncompute: {gpus: 1}\n"
    assert read(text).digest == read(text, "workspaces/v/deep/er/tau.yaml", "v").digest


PAIR = (
    """\
name: teasel
run:
  workload_kind: job
  entrypoint: fit.py
runtime:
  image: registry.example.org/torch:2.9
  env:
    ALPHA: "1"
    BETA: two
    GAMMA: "3.0"
  env_secret:
    HUB_TOKEN: hub:token
compute:
  gpus: 1
  cpus: 4
labels:
  owner: lab
  stage: trial
""",
    """\
# reordered
labels: {stage: 'trial', owner: "lab"}
compute: {cpus: 4, gpus: 1}
runtime:
  env_secret: {HUB_TOKEN: "hub:token"}
  env:
    GAMMA: '3.0'   # last first
    BETA: "two"
    ALPHA: '1'
  image: registry.example.org/torch:2.9
run: {entrypoint: fit.py, workload_kind: job}
name: teasel
""",
)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_order_comments_quotes_style_and_line_ends_are_no_part_of_it(ends: str) -> None:
    assert read(PAIR[0]).digest == read(PAIR[1].replace("\n", ends)).digest
    assert read(PAIR[0]).spec == read(PAIR[1].replace("\n", ends)).spec


@given(st.permutations(["    ALPHA: '1'", "    BETA: two", "    GAMMA: '3.0'"]))
def test_any_order_of_keys(lines: list[str]) -> None:
    text = PAIR[0].replace('    ALPHA: "1"\n    BETA: two\n    GAMMA: "3.0"', "\n".join(lines))
    assert read(text).digest == read(PAIR[0]).digest

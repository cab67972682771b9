"""Credentials: found in every place where people put them, never repeated, and no alarm for ordinary texts."""

import pytest

from taugen.words import credentials
from tests.validate.rules.document.test_rules import findings

HEAD = "name: asr\nrun: {entrypoint: train.py, workload_kind: job}\ncompute: {gpus: 1}\n"
IMAGE = f"registry.tern.example/speech/torch@sha256:{'1' * 64}"

# Made up, in the public forms of each service; put together here so that no scanner takes them for real ones.
SHAPES = {
    "url": "https://robot:" + "hunter2hunter2" + "@host.example/x",
    "postgres": "postgresql://app:" + "s3cr3t" + "@db.example/app",
    "url token": "https://" + "a8f5f167f44f4964e6c998dee827110c" + "@host.example/x",
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6",
    "github fine": "github_pat_" + "11ABCDEFG0aBcDeFgHiJkL_MnOpQrStUvWx",
    "gitlab": "glpat-" + "aB3dE6gH9jK2mN5pQ8sT",
    "hugging face": "hf_" + "QmAdEuPMaDeUpQmAdEuPMaDeUpQmAdEuPM",
    "slack": "xoxb-" + "123456789012-abcdefghijkl",
    "openai": "sk-" + "proj-aB3dE6gH9jK2mN5pQ8sT1vW4",
    "google": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiJtYWRldXAifQ" + ".c2lnbmF0dXJl",
    "azure": "DefaultEndpointsProtocol=https;AccountKey=" + "bWFkZXVwLWFjY291bnQta2V5LXZhbHVl",
    "sas": "https://acct.blob.example/c?sv=2024&sig=" + "abcdefghijklmnopqrstuvwxyz0123456789%3D",
    "pem": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "npm": "npm_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6",
    "bearer": "Authorization: Bearer " + "madeup-bearer-7c1f0d2e9b",
    "databricks": "dapi" + "0123456789abcdef0123456789abcdef",
}


def document(text: str, env: str = "") -> str:
    return f"{HEAD}runtime:\n  image: {IMAGE}\n{env}{text}"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


PLACES = {
    "runtime.env.X": lambda s: document("", f"  env:\n    X: {quoted(s)}\n"),
    "run.args[1]": lambda s: document("").replace("train.py,", f"train.py, args: [--x, {quoted(s)}],"),
    "run.setup": lambda s: document("").replace("train.py,", f"train.py, setup: {quoted('pip list ' + s)},"),
    "runtime.pip[0]": lambda s: document("", f"  pip: [{quoted(s)}]\n"),
    "execution.configs.x": lambda s: document(f"execution:\n  configs: {{x: {quoted(s)}}}\n"),
    "experiment.hyperparameters.a[0].b": lambda s: document(f"experiment:\n  hyperparameters: {{a: [{{b: {quoted(s)}}}]}}\n"),
    "description": lambda s: document(f"description: {quoted(s)}\n"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", PLACES)
def test_a_known_shape_is_found_wherever_it_stands_and_not_repeated(shape: str, place: str) -> None:
    secret = SHAPES[shape]
    found = [d for d in findings(PLACES[place](secret)) if d.rule == "credential"]
    assert [d.path for d in found] == [place]
    said = f"{found[0].message} {found[0].hint}"
    assert not any(secret[i : i + 12] in said for i in range(len(secret) - 12))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WANDB_API_KEY", "0123456789abcdef0123456789abcdef01234567"),
        ("HF_TOKEN", "QmAdEuP1MaDeUp2QmAdEuP3"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("DB_PASSWORD", "postgres"),
        ("CLIENT_SECRET", "x7k2m9q4z8w1n5b3"),
    ],
)
def test_a_telling_name_with_a_value_that_looks_like_one(name: str, value: str) -> None:
    for text in (
        document("", f"  env: {{{name}: {value}}}\n"),
        document("").replace("train.py,", f"train.py, args: [--{name.lower().replace('_', '-')}, {value}],"),
        document("").replace("train.py,", f"train.py, args: ['--{name.lower()}={value}'],"),
        document("").replace("train.py,", f"train.py, setup: 'export {name}={value}',"),
        document("").replace("train.py,", f"train.py, setup: 'echo a; {name}=\"{value}\" python x',"),
        document(f"execution:\n  configs: {{{name.lower()}: {value}}}\n"),
    ):
        found = [d for d in findings(text) if d.rule == "credential"]
        assert len(found) == 1, text
        assert value not in found[0].message + found[0].hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKENIZERS_PARALLELISM", "false"),
        ("MAX_TOKENS", "4096"),
        ("NUM_TOKENS_PER_BATCH", "1048576"),
        ("EOS_TOKEN", "<|endoftext|>"),
        ("PAD_TOKEN", "[PAD]"),
        ("SORT_KEY", "created_at"),
        ("CACHE_KEY", "v3-py312-linux-x86_64"),
        ("TOKEN_FILE", "/var/secrets/token"),
        ("HF_TOKEN", "$HF_TOKEN"),
        ("PASSWORD", "${PASSWORD}"),
        ("PASSWORD_FILE", "/run/pw"),
        ("SECRET_NAME", "wandb"),
        ("REGISTRY", "registry.example.org/team/image:2.9.1"),
        ("RUN", "2f1d9e60-7a7a-4d3c-9f5c-0b1c2d3e4f50"),
        ("DATA", "https://host.example:8443/path?x=1"),
        ("GIT", "ssh://git@host.example/x.git"),
        ("URL", "https://user:$TOKEN@host.example/x"),
        ("DATASET", "task-1234567890-abcdefghij"),
        ("CHECKSUM", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("MODEL", "meta-llama/Llama-3.1-8B-Instruct"),
        ("API_KEY", "none"),
        ("WANDB_API_KEY", "changeme"),
    ],
)
def test_ordinary_variables_are_no_alarm(name: str, value: str) -> None:
    assert [d.rule for d in findings(document("", f"  env:\n    {name}: {quoted(value)}\n"))] == []


def test_a_url_in_code_points_to_the_secret_of_a_checkout() -> None:
    url = "https://robot:" + "hunter2hunter2" + "@git.tern.example/research/x.git"
    found = findings(document(f"code:\n  git:\n    url: {url}\n    ref: {'1' * 40}\n"))
    assert "code.git.secret" in next(d for d in found if d.rule == "credential").hint
    assert not any("hunter2" in d.message + d.hint for d in found)


def test_escapes_hide_nothing() -> None:
    text = '"gh\\x70_' + SHAPES["github"][4:] + '"'
    assert [d.rule for d in findings(document("", f"  env: {{X: {text}}}\n"))] == ["credential"]


def test_texts_of_thousands_of_characters_are_quick() -> None:
    assert credentials.shape("a1B2" * 15000) is None
    assert credentials.in_shell("x=" * 30000) is None
    assert credentials.shape("https://" + "a" * 60000) is None

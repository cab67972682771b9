"""Each rule on decided runs has a document that breaks it and the one edit that mends it."""

from pathlib import Path
from types import ModuleType

import pytest

from taugen.diag import has_errors
from taugen.validate import engine
from taugen.validate.rules import run as rules
from tests.resolve.kit import Played, play

FOLDER = Path(__file__).parent


def folder(rule: ModuleType) -> Path:
    return FOLDER / rule.__name__.rpartition(".")[2]


def played(rule: ModuleType, which: str) -> Played:
    text = (folder(rule) / f"{which}.yaml").read_text()
    first = text.partition("\n")[0]
    workspace = first.removeprefix("# workspace: ") if first.startswith("# workspace: ") else "speech"
    policy = folder(rule) / "policy.yaml"
    return play(text, workspace=workspace, policy=policy.read_text() if policy.exists() else "")


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda r: r.ID)
def test_breaks(rule: ModuleType) -> None:
    case = played(rule, "breaks")
    found = [d for d in engine.check_run(case.decided, case.policy) if d.rule == rule.ID]
    assert len(found) == 1
    assert found[0].path
    assert found[0].hint
    assert not found[0].message.endswith(".")


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda r: r.ID)
def test_mends(rule: ModuleType) -> None:
    case = played(rule, "mends")
    findings = [*engine.check_document(case.doc, case.policy), *engine.check_run(case.decided, case.policy)]
    assert not [d for d in findings if d.rule == rule.ID]
    assert not has_errors(findings), findings


def test_rules_are_registered_in_order_with_a_case_each() -> None:
    names = [rule.__name__.rpartition(".")[2] for rule in rules.RULES]
    modules = sorted(p.stem for p in Path(rules.__file__).parent.glob("[a-z]*.py"))
    assert names == modules
    assert names == sorted(p.name for p in FOLDER.iterdir() if p.is_dir() and not p.name.startswith("_"))
    assert [rule.ID for rule in rules.RULES] == [name.replace("_", "-") for name in names]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda r: r.ID)
def test_a_rule_documents_itself(rule: ModuleType) -> None:
    text = rule.__doc__ or ""
    assert text.partition("\n")[0].endswith(".")
    assert "Breaks:" in text
    assert "Mends:" in text
    assert "Source:" in text


def test_metrics_beside_all_storage_are_told_one_by_one() -> None:
    case = play(
        "name: asr\nrun: {entrypoint: train.py, workload_kind: job}\ncompute: {gpus: 1}\n"
        f"runtime: {{image: registry.tern.example/speech/torch@sha256:{'1' * 64}}}\n"
        "storage: {data: audio}\n"
        "metrics: {history: [a/*.jsonl, /data/m.jsonl, /database/m.jsonl, /tmp/m.jsonl]}\n"
    )
    found = [d for d in engine.check_run(case.decided, case.policy) if d.rule == "metrics-without-output"]
    assert [d.path for d in found] == ["metrics.history[2]", "metrics.history[3]"]

"""A taste of the fuzzer in every run of the tests; `python -m tests.attacks.fuzz --count 100000` is the meal."""

from tests.attacks.fuzz import Fuzzer, Judge


def test_some_hundred_documents(tmp_path):
    fuzzer, judge = Fuzzer(1), Judge(tmp_path)
    faults = {number: said for number in range(400) if (said := judge.fault(number, fuzzer.text(number))) is not None}
    assert faults == {}
    assert judge.good > 10
    assert len(judge.rules) > 40


def test_the_same_number_is_the_same_document():
    assert [Fuzzer(3).text(n) for n in range(20)] == [Fuzzer(3).text(n) for n in range(20)]
    assert Fuzzer(3).text(1) != Fuzzer(4).text(1)


def test_it_would_notice(tmp_path, monkeypatch):
    judge = Judge(tmp_path)
    monkeypatch.setattr(judge.compiler, "compile", lambda doc: 1 / 0)
    assert "ZeroDivisionError" in judge.fault(0, b"name: x\n")

"""What the collector really writes is what `verify` takes for sound."""

import pytest

from taugen.evidence.verify import verify
from tests.collect import fakeapi
from tests.collect.lab import Lab
from tests.collect.test_once import finished


@pytest.fixture
def lab(tmp_path):
    store = fakeapi.Store()
    with fakeapi.serving(store) as address:
        yield Lab(tmp_path, store, address)


def test_evidence_of_a_collector_is_sound(lab):
    finished(lab)
    assert lab.collector(prices={"h100": 2.5}).once()
    proof = verify(lab.branch())
    assert [(one.rule, one.span.file, one.message) for one in proof.findings] == []
    assert (proof.commits, proof.records) == (1, 1)

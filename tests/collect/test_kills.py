"""A small kill test: `python -m tests.collect.kills` plays the large one."""

from tests.collect import kills


def test_a_collector_that_is_killed_again_and_again_writes_the_same_evidence(tmp_path):
    assert kills.compare(kills=20, runs=11, seed=3, life=0.5, faults=0.15, folder=tmp_path) == ""

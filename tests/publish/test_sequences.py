"""Some of the random histories of `sequences`; the command there plays many."""

import pytest

from tests.publish.kit import Fleet
from tests.publish.sequences import play, retrying


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    fleet = Fleet.make(tmp_path_factory.mktemp("base") / "repo")
    fleet.publish()
    return fleet


@pytest.fixture(scope="module")
def retried(tmp_path_factory):
    fleet = Fleet.make(tmp_path_factory.mktemp("retried") / "repo", retrying())
    fleet.publish()
    return fleet


# A simulated kill leaves files open, as a real one would.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("seed", range(24))
def test_a_random_history_keeps_the_laws(base, tmp_path, seed):
    assert play(tmp_path / "repo", base, seed, 3, elsewhere=seed % 12 == 0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("seed", [18, 1110])
def test_a_history_that_once_broke_them(base, tmp_path, seed):
    assert play(tmp_path / "repo", base, seed, 7)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("seed", range(8))
def test_a_random_history_in_which_runs_end(retried, tmp_path, seed):
    assert play(tmp_path / "repo", retried, seed, 4, elsewhere=seed == 0, advance=True)

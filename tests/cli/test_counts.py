"""Numbers and words agree; colour that was asked for is there though nobody looks at a terminal."""

from pathlib import Path

import pytest

from taugen.words.counts import counted

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(("number", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (2000, "2,000 files")])
def test_a_number_and_its_word(number, said):
    assert counted(number, "file") == said


@pytest.mark.parametrize("args", [("explain", "protein/fold-large"), ("check", "workspaces/speech")])
def test_colour_that_is_asked_for_is_there_in_a_pipe(taugen, args):
    assert "\x1b[" in taugen(*args, "--color", cwd=EXAMPLES).out
    assert "\x1b[" not in taugen(*args, "--no-color", cwd=EXAMPLES).out
    assert "\x1b[" not in taugen(*args, cwd=EXAMPLES).out

"""What a person typed is quoted so that it can't act on a terminal or fill a screen."""

from taugen.words.errors import TextError, shown


def test_shown():
    assert shown("64G b") == '"64G b"'
    assert shown("\x1b[31m\n") == '"\\x1b[31m\\n"'
    assert shown("x" * 1000) == '"' + "x" * 40 + '…"'


def test_message_and_hint():
    error = TextError("is wrong", "write right")
    assert (error.message, error.hint, str(error)) == ("is wrong", "write right", "is wrong: write right")
    assert str(TextError("is wrong")) == "is wrong"

"""What a line of a document gives away."""

import pytest

from taugen.words import credentials


@pytest.mark.parametrize(
    ("line", "gives"),
    [
        ("run: {args: [a, --password=hunter2hunter2]}", True),
        ('run: {entrypoint: "python run.py --db-password hunter2hunter2"}', True),
        ("entrypoint: DB_PASSWORD=hunter2hunter2 python run.py", True),
        ("run: {args: [--password, $DB]}", False),
        ("runtime: {env_secret: {DB_PASSWORD: vault:db}}", False),
        ("  - --key-file=/etc/keys/id", False),
        ("# the password of the registry is in a Secret", False),
    ],
)
def test_in_line(line, gives):
    assert credentials.in_line(line) is gives

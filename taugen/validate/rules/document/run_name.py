"""A run's name is a plain word that people can type and tell apart.

Names longer than fit are shortened, odd ones rewritten with a hash, so little is an error: what can't be typed (`/` parts workspace, name
and digest in commands) and what looks like another name but isn't (a Cyrillic a, an unseen character).

Breaks: `name: trаin` with a Cyrillic a.

Mends:

    name: train

Source: Unicode Technical Standard 39 (confusables); the form workspace/name/digest8.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import confusables
from taugen.words.errors import shown

ID = "run-name"

MOST = 253


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`name`."""
    del policy
    name = doc.spec.name
    if name is None:
        return
    if (odd := confusables.confusable(name)) is not None:
        yield doc.finding(ID, ("name",), f"the name has {odd}", hint="type it with plain letters, digits and -")
    elif "/" in name:
        yield doc.finding(ID, ("name",), f"{shown(name)} has a /, which parts workspace, name and digest", hint="write - instead")
    elif name != name.strip():
        yield doc.finding(ID, ("name",), f"{shown(name)} begins or ends with a space", hint=f"write {name.strip() or 'a name'}")
    elif len(name) > MOST:
        yield doc.finding(ID, ("name",), f"the name has {len(name)} characters, but at most {MOST} are kept", hint="shorten it")

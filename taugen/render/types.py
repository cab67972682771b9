"""What rendering makes: objects with the place where each is written.

In: renderers. Out: `Rendered`. An object is a plain dict in the order in which it is written; it never holds what a controller owns (DESIGN
law 6).
"""

from msgspec import Struct

from taugen.diag import Span
from taugen.words import Json

Object = dict[str, Json]


class Rendered(Struct, frozen=True):
    """One object and its file.

    `path` is relative to the deploy tree (`clusters/` left out): `<cluster>/runs/<workspace>/<d2>/<run>/job.yaml`. `source` is the document
    that it comes from, relative to the repository; `span` where to point when a check of the object fails.
    """

    path: str
    obj: Object
    source: str
    span: Span

    @property
    def kind(self) -> str:
        """The object's kind."""
        return str(self.obj["kind"])

    @property
    def name(self) -> str:
        """The object's name."""
        metadata = self.obj["metadata"]
        return str(metadata["name"]) if isinstance(metadata, dict) else ""

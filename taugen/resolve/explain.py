"""Where each value of a run came from.

In: a document and the layers that shaped it. Out: `Origin` by dotted field, computed when somebody asks.
"""

from collections.abc import Iterator, Mapping

from taugen.policy.model import Profile
from taugen.policy.set import Item, Policy
from taugen.resolve.context import WorkspaceContext
from taugen.resolve.run import Origin
from taugen.spec.rundoc import RunDoc


class Origins(Mapping[str, Origin]):
    """Lazily computed origins of one run."""

    __slots__ = ("_doc", "_found", "_policy", "_profile", "_workspace")

    def __init__(self, policy: Policy, workspace: WorkspaceContext, profile: Item[Profile] | None, doc: RunDoc) -> None:
        self._policy, self._workspace, self._profile, self._doc = policy, workspace, profile, doc
        self._found: dict[str, Origin] | None = None

    def _all(self) -> dict[str, Origin]:
        if self._found is None:
            self._found = {}
        return self._found

    def __getitem__(self, field: str) -> Origin:
        return self._all()[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

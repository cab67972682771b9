"""One document on its way through the deciding functions.

In: a document, its workspace, its code. Out: `Case`, which every function of this package takes: the sections that the document left out
stand there as empty ones, so that nobody has to ask twice.
"""

from msgspec import Struct

from taugen.resolve.code import CodeInput
from taugen.resolve.context import Context, WorkspaceContext
from taugen.resolve.report import Report
from taugen.resolve.run import Kind
from taugen.spec.model import CodeSection, ComputeSection, ExecutionSection, PolicySection, RunSection, RuntimeSection
from taugen.spec.rundoc import RunDoc
from taugen.words import Path

_CODE = CodeSection.model_construct()
_COMPUTE = ComputeSection.model_construct()
_EXECUTION = ExecutionSection.model_construct()
_POLICY = PolicySection.model_construct()
_RUN = RunSection.model_construct()
_RUNTIME = RuntimeSection.model_construct()
KIND: Path = ("run", "workload_kind")


class Case(Struct):
    """A document with its surroundings. `kind_known` is false where the document names a kind that could not be read."""

    doc: RunDoc
    report: Report
    context: Context
    workspace: WorkspaceContext
    code_input: CodeInput
    kind: Kind
    kind_known: bool
    code: CodeSection
    compute: ComputeSection
    execution: ExecutionSection
    policy: PolicySection
    run: RunSection
    runtime: RuntimeSection


def case(report: Report, context: Context, workspace: WorkspaceContext, code: CodeInput) -> Case:
    """The case of a document."""
    doc = report.doc
    spec = doc.spec
    return Case(
        doc=doc,
        report=report,
        context=context,
        workspace=workspace,
        code_input=code,
        kind=doc.kind,
        kind_known=not doc.lost(KIND),
        code=spec.code or _CODE,
        compute=spec.compute or _COMPUTE,
        execution=spec.execution or _EXECUTION,
        policy=spec.policy or _POLICY,
        run=spec.run or _RUN,
        runtime=spec.runtime or _RUNTIME,
    )

"""What OpenLineage 2-0-2 asks of a run event, and its facets of ours, as a JSON Schema: written here after the published specification
(https://openlineage.io/spec/2-0-2/OpenLineage.json and the facets that events name). Stricter in one thing: a property that no version
knows is refused, since a misspelt one would say nothing to anybody.

Formats are judged by the functions here: jsonschema passes over those for which a further library is missing.
"""

import re
from datetime import datetime
from uuid import UUID

from jsonschema import Draft202012Validator, FormatChecker

TEXT = {"type": "string"}
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?://[A-Za-z0-9._~%!$&'()*+,;=:@\[\]-]*)?[A-Za-z0-9._~%!$&'()*+,;=:@/?-]*(?:#[^\s<>\"{}|\\^`#]*)?"
)
FORMATS = FormatChecker(formats=())


@FORMATS.checks("uri")
def _uri(text):
    return not isinstance(text, str) or _URI.fullmatch(text) is not None


@FORMATS.checks("date-time", raises=ValueError)
def _time(text):
    return not isinstance(text, str) or ("T" in text and datetime.fromisoformat(text).tzinfo is not None)


@FORMATS.checks("uuid", raises=ValueError)
def _uuid(text):
    return not isinstance(text, str) or str(UUID(text)) == text


def _object(required, optional=None):
    return {"type": "object", "required": [*required], "properties": {**required, **(optional or {})}, "additionalProperties": False}


def _facet(which, required, optional=None):
    version, _, name = which.partition("/")
    url = {**_TEXT_URI, "const": f"https://openlineage.io/spec/facets/{version}/{name}.json#/$defs/{name}"}
    return _object({"_producer": _TEXT_URI, "_schemaURL": url, **required}, optional)


_TEXT_URI = {"type": "string", "format": "uri"}
_RUN = {"runId": {"type": "string", "format": "uuid"}}
_JOB = {"namespace": {**TEXT, "minLength": 1}, "name": {**TEXT, "minLength": 1}}
_RUN_FACETS = {
    "parent": _facet("1-1-0/ParentRunFacet", {"run": _object(_RUN), "job": _object(_JOB)}),
    "errorMessage": _facet("1-0-1/ErrorMessageRunFacet", {"message": TEXT, "programmingLanguage": TEXT}, {"stackTrace": TEXT}),
}
_JOB_FACETS = {
    "jobType": _facet("2-0-4/JobTypeJobFacet", {"processingType": TEXT, "integration": TEXT}, {"jobType": TEXT}),
    "sourceCodeLocation": _facet(
        "1-0-1/SourceCodeLocationJobFacet",
        {"type": TEXT, "url": _TEXT_URI},
        {"repoUrl": TEXT, "path": TEXT, "version": TEXT, "tag": TEXT, "branch": TEXT},
    ),
}
_DATASETS = {"type": "array", "items": _object(_JOB)}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        {
            "eventTime": {"type": "string", "format": "date-time"},
            "producer": _TEXT_URI,
            "schemaURL": {**_TEXT_URI, "const": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"},
            "run": _object(_RUN, {"facets": _object({}, _RUN_FACETS)}),
            "job": _object(_JOB, {"facets": _object({}, _JOB_FACETS)}),
            "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        },
        {"inputs": _DATASETS, "outputs": _DATASETS},
    ),
}
Draft202012Validator.check_schema(SCHEMA)
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FORMATS)


def faults(event):
    """What is wrong with an event, each with its place."""
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(event)]

"""Commands: one module each, imported when the command runs, so that `--help` and completion load nothing else."""

from pathlib import Path

import click

from taugen import __version__
from taugen.cli.group import Group

COMMANDS = {
    "init": "Make a working GitOps repository in a folder.",
    "check": "Find every problem in runs and policy.",
    "render": "Write the deploy tree into a folder, or print one run.",
    "publish": "Commit the deploy tree.",
    "collect": "Write what happens in a cluster to the evidence branch.",
    "advance": "Retry, resume and retire runs, as evidence says.",
    "runs": "List runs and where each stands.",
    "show": "Show everything that is known of a run.",
    "logs": "Print what a run printed.",
    "evidence": "Prove and export evidence.",
    "explain": "Say where each value of a run comes from, or what a finding means.",
    "fix": "Write older spellings of run documents as present ones, comments kept.",
    "lock": "Pin policy repositories by commit.",
    "schema": "Print JSON Schemas; import CRDs for validation.",
    "completion": "Make a shell complete commands, runs and findings.",
    "doctor": "Look for what is missing here, and say how to get it.",
    "demo": "Do the main job on the shipped examples, in a folder.",
}


@click.group(cls=Group, about=COMMANDS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="taugen", message="%(prog)s %(version)s")
@click.option("-C", "start", metavar="DIR", type=click.Path(path_type=Path), help="Start looking for taugen.yaml in DIR (and upwards).")
def commands(start: Path | None) -> None:
    """Compile tau.yaml and platform policy into Kubernetes manifests, as Git commits."""

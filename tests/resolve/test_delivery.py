"""How code arrives, and why."""

from taugen.resolve.delivery import LAUNCH_BYTES, MOST_BYTES
from tests.resolve.kit import PYTHON, job, play

GIT = "git: {url: 'https://git.tern.example/research/x.git', ref: " + "a" * 40 + ", secret: 'tracker:key'}"
SOURCE = "source: {image: 'registry.tern.example/code@sha256:" + "5" * 64 + "', path: /src}"
COMMAND = "entrypoint: [python, -m, x]"
ENTRY = "entrypoint: train.py"


def test_small_code_fits_into_a_configmap() -> None:
    code = play(job()).decided.code
    assert (code.delivery, code.reason, code.base, code.root) == ("configmap", "15 bytes fit into a ConfigMap", "", "/tau/code")
    assert play(job("code: {delivery: configmap}")).decided.code.reason == "code.delivery says so"


def test_code_that_is_too_large_says_both_numbers() -> None:
    most = MOST_BYTES - LAUNCH_BYTES
    fits = play(job(), files={"train.py": PYTHON, "x.bin": b"x" * (most - len(PYTHON))})
    assert fits.decided.code.delivery == "configmap"
    found = play(job(), files={"train.py": PYTHON, "x.bin": b"x" * most}).one("code-too-large")
    assert ("877 KiB" in found.message, "876 KiB" in found.message, found.path) == (True, True, "run.entrypoint")
    assert "code.git" not in found.message


def test_a_checkout_of_this_repository_keeps_its_folders() -> None:
    code = play(job(f"code: {{{GIT}}}")).decided.code
    assert (code.delivery, code.base, code.commit, code.secret) == ("git", "workspaces/speech/case", "a" * 40, ("tracker", "key"))


def test_a_checkout_of_another_starts_at_its_root_or_path() -> None:
    run = play(job(f"code: {{{GIT}}}"), files={}).decided
    assert (run.code.base, run.program.file) == ("", "train.py")
    assert play(job(f"code: {{path: src, delivery: git, {GIT}}}"), files={}).decided.code.base == "src"
    command = play(job(f"code: {{{GIT}}}").replace(ENTRY, COMMAND)).decided
    assert (command.code.base, command.program.launcher) == ("", "command")


def test_git_without_a_repository() -> None:
    assert play(job("code: {delivery: git}")).errors() == ["code-git-missing"]
    assert play(job("code: {delivery: git, git: 7}")).errors() == ["value-type"]


def test_an_image_needs_nothing_delivered() -> None:
    code = play(job("code: {delivery: image}"), files={}).decided.code
    assert (code.delivery, code.root) == ("image", "")
    auto = play(job().replace(ENTRY, COMMAND), files={}).decided.code
    assert (auto.delivery, auto.reason) == ("image", "the entrypoint is a command, and there is no file to deliver")
    assert play(job().replace(ENTRY, COMMAND)).decided.code.delivery == "configmap"


def test_code_is_copied_out_of_an_image() -> None:
    run = play(job().replace(ENTRY, f"{ENTRY}, {SOURCE}"), files={}).decided
    assert (run.code.delivery, run.code.root, run.program.file) == ("image", "/tau/code", "train.py")
    assert [(c.name, c.source_path, c.mount_path) for c in run.copies] == [("source", "/src", "/tau/code")]
    wrong = play(job("code: {delivery: configmap}").replace(ENTRY, f"{ENTRY}, {SOURCE}"), files={})
    assert wrong.errors() == ["code-delivery"]


def test_extra_scripts_travel_with_the_code_only() -> None:
    played = play(job("code: {delivery: image}", "workflow: {extra_scripts: [a.py]}"), files={})
    assert played.one("code-extra-unused").path == "workflow.extra_scripts"

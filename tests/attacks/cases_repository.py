"""What is tried with the repository itself: files that are none, attributes, references, the checkout's own configuration."""

import os
import shutil
import socket

from tests.attacks.cases import case, greedy
from tests.attacks.kit import PROBE, Fork
from tests.gitkit import commit, git, make_repo, write

RUNS_OWN = """
[core]
  fsmonitor = evil
  hooksPath = .githooks
  pager = evil
  sshCommand = evil
  gitProxy = evil
  alternateRefsCommand = evil
[include]
  path = {home}/.gitconfig
[diff]
  external = evil
  ignoreSubmodules = none
[filter "own"]
  clean = evil
  smudge = evil
  process = evil
  required = true
[status]
  submoduleSummary = true
[remote "origin"]
  url = ext::evil
  promisor = true
  uploadpack = evil
[protocol "ext"]
  allow = always
[gpg]
  program = evil
[log]
  showSignature = true
"""
"""A configuration of a repository in which everything that can be a program is one."""


def loosened(f: Fork) -> None:
    """A run that takes too much, and a policy that would let it."""
    greedy(f)
    text = (f.repo / "policy/profiles.yaml").read_text()
    write(f.repo, {"policy/profiles.yaml": text.replace("max: 200Gi", "max: 2000Gi")})


# ---------------------------------------------------------------------------------------------------- documents that are no files


@case("is a pipe, a socket or a device", "[document-unreadable]")
def a_document_that_is_a_pipe(f: Fork) -> None:
    def change() -> None:
        (f.repo / PROBE / "tau.yaml").unlink()
        os.mkfifo(f.repo / PROBE / "tau.yaml")

    f.later.append(change)


@case("is a pipe, a socket or a device", "[code-unreadable]")
def a_program_that_is_a_socket(f: Fork) -> None:
    def change() -> None:
        (f.repo / PROBE / "train.py").unlink()
        folder = os.open(f.repo / PROBE, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/train.py")  # a socket's own path may have 107 bytes
        os.close(folder)

    f.later.append(change)


@case("is a symbolic link", "[document-unreadable]")
def a_document_that_is_a_link_to_itself(f: Fork) -> None:
    f.link("tau.yaml", "tau.yaml")


@case("is a symbolic link", "[document-unreadable]")
def a_document_that_is_the_environment(f: Fork) -> None:
    f.link("tau.yaml", "/proc/self/environ")


@case("is a submodule", "[document-unreadable]")
def a_document_that_is_a_submodule(f: Fork) -> None:
    git(f.repo, "rm", "-q", f"{PROBE}/tau.yaml")
    f.entry("160000", f"{PROBE}/tau.yaml", "1" * 40)
    f.links.append("index")


@case("is not UTF-8", "[document-unreadable]")
def a_document_in_a_folder_that_is_no_text(f: Fork) -> None:
    folder = os.fsencode(f.repo / "workspaces/climate") + b"/\xff\xfe"
    os.mkdir(folder)
    with open(folder + b"/tau.yaml", "wb") as file:
        file.write(b"name: x\n")


@case("unknown key nonsense", "[unknown-key]")
def documents_that_git_ignores(f: Fork) -> None:
    write(f.repo, {"workspaces/.gitignore": "*\n", ".gitignore": "tau.yaml\n*.py\n"})
    f.run(more="nonsense: 1\n")
    git(f.repo, "add", "-A", "-f")
    f.links.append("index")


@case("[document-unmatched]", code=0)
def the_folder_of_all_workspaces_as_a_link(f: Fork) -> None:
    shutil.move(f.repo / "workspaces", f.repo / "others")
    (f.repo / "workspaces").symlink_to("others")


@case("d/d/d/d", "[missing-entrypoint]")
def a_document_hundreds_of_folders_deep(f: Fork) -> None:
    f.put({"workspaces/climate/" + "d/" * 900 + "tau.yaml": "name: x\n"})


# ------------------------------------------------------------------------------------------------------------------ attributes


@case()
def attributes_that_change_how_files_are_read(f: Fork) -> None:
    write(f.repo, {".gitattributes": "*.yaml working-tree-encoding=UTF-16 eol=crlf\n* ident text=auto\n"})
    git(f.repo, "add", ".gitattributes")
    f.links.append("index")


@case()
def thousands_of_attributes_and_ignored_names(f: Fork) -> None:
    patterns = [f"{'a*' * 40}{n}" for n in range(5000)]
    write(f.repo, {".gitattributes": "".join(f"{pattern} -text\n" for pattern in patterns), ".gitignore": "\n".join(patterns)})
    f.put({f"{PROBE}/{'a' * 200}/{'a' * 200}": "x\n"})
    git(f.repo, "add", "-f", ".gitattributes", ".gitignore", PROBE)
    f.links.append("index")


# -------------------------------------------------------------------------------------------------------------- names of commits


@case("main is the name of a branch and of a tag", "refs/heads/main", code=2)
def a_tag_by_the_name_of_the_branch(f: Fork) -> None:
    loosened(f)
    f.later.append(lambda: git(f.repo, "tag", "main"))


@case("[profile-limit]", "policy-not-judged")
def files_by_the_names_of_commits(f: Fork) -> None:
    loosened(f)
    write(f.repo, {"main": "x\n", "refs/heads/main": "x\n", "HEAD": "x\n", "FETCH_HEAD": "x\n", "-": "x\n", "--": "x\n"})


@case("there is no commit '--output=report'", code=2)
def a_commit_that_looks_like_an_option(f: Fork) -> None:
    f.args = ["--changed-since=--output=report"]


@case()
def a_branch_that_looks_like_an_option(f: Fork) -> None:
    f.later.append(lambda: git(f.repo, "update-ref", "refs/heads/--output=report", "main"))
    f.args = ["--changed-since", "refs/heads/--output=report"]


@case("there is no commit", code=2)
def a_commit_that_is_searched_for(f: Fork) -> None:
    f.args = ["--changed-since", ":/(a+)+$"]


@case("[profile-limit]", "[policy-not-judged]")
def a_replaced_commit(f: Fork) -> None:
    loosened(f)
    f.later.append(lambda: git(f.repo, "replace", git(f.repo, "rev-parse", "main"), "HEAD"))


@case("[profile-limit]")
def a_history_that_was_grafted(f: Fork) -> None:
    greedy(f)

    def change() -> None:
        main, head = git(f.repo, "rev-parse", "main"), git(f.repo, "rev-parse", "HEAD")
        write(f.repo / ".git", {"info/grafts": f"{main} {head}\n"})

    f.later.append(change)
    f.args = ["--changed-since", "main"]


@case("[profile-limit]")
def a_source_that_says_it_is_published(f: Fork) -> None:
    greedy(f)
    write(
        f.repo,
        {".taugen/state/climate/ab/probe-12345678.yaml": "phase: live\n", "clusters/mesa/runs/climate/x.yaml": "kind: ClusterRole\n"},
    )


# ---------------------------------------------------------------------------------------------------------------- the checkout


def own_configuration(f: Fork) -> None:
    write(f.repo, {".gitattributes": "* filter=own diff=own merge=own\n"})

    def change() -> None:
        with (f.repo / ".git/config").open("a") as file:
            file.write(RUNS_OWN.format(home=f.outside / "home"))
        write(f.repo, {f"{PROBE}/train.py": "print(1)\n", f"{PROBE}/new.py": "print(1)\n"})

    f.later.append(change)


@case("[code-untracked]", code=0)
def a_configuration_full_of_programs(f: Fork) -> None:
    own_configuration(f)


@case("[code-untracked]", code=0)
def a_configuration_full_of_programs_and_a_comparison(f: Fork) -> None:
    own_configuration(f)
    f.args = ["--changed-since", "main"]


@case("a partial clone has to fetch it first", "[document-unreadable]")
def an_object_that_only_the_server_has(f: Fork) -> None:
    def change() -> None:
        blob = git(f.repo, "rev-parse", f"HEAD:{PROBE}/tau.yaml")
        settings = {"remote.origin.url": "ext::evil", "remote.origin.promisor": "true", "extensions.partialClone": "origin"}
        for name, value in settings.items() | {("protocol.ext.allow", "always")}:
            git(f.repo, "config", name, value)
        (f.repo / ".git/objects" / blob[:2] / blob[2:]).unlink()

    f.run(more="description: nobody else has it\n")
    f.later.append(change)
    f.args = ["--ref", "HEAD"]


@case()
def objects_from_elsewhere(f: Fork) -> None:
    f.later.append(lambda: write(f.repo / ".git", {"objects/info/alternates": f"/proc/self/fd\n/dev\n{f.outside}\n"}))


@case("is not in a Git repository", code=2)
def a_git_file_that_leads_elsewhere(f: Fork) -> None:
    f.later.append(lambda: (f.repo / PROBE / ".git").write_text(f"gitdir: {f.outside}\n"))
    f.args = ["-C", PROBE]


@case("ml in", "has the files of a Git repository, and git would take it for one", code=2)
def a_project_that_looks_like_a_repository(f: Fork) -> None:
    """The project stands in a folder ml, and brings a history of its own in which its policy was always like that."""
    git(f.repo, "checkout", "-q", "main")
    (f.repo / "ml").mkdir()
    for name in git(f.repo, "ls-tree", "--name-only", "HEAD").splitlines():
        shutil.move(f.repo / name, f.repo / "ml" / name)
    commit(f.repo)
    git(f.repo, "checkout", "-q", "-B", "topic")
    mine = f.outside / "mine"
    shutil.copytree(f.repo / "ml", mine)
    text = (mine / "policy/profiles.yaml").read_text()
    write(mine, {"policy/profiles.yaml": text.replace("max: 200Gi", "max: 2000Gi")})
    make_repo(mine)
    commit(mine)
    for name in ("objects", "refs"):
        shutil.copytree(mine / ".git" / name, f.repo / "ml" / name)
    write(f.repo, {"ml/HEAD": "ref: refs/heads/main\n", "ml/config": "[core]\n  bare = false\n  worktree = .\n  fsmonitor = evil\n"})
    f.args = ["-C", "ml"]

"""What a hostile pull request tries: a name, the change, and what `check` says to it.

`says` are pieces of the text output, all of which must be there; none of them: the change is harmless and check passes.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

from tests.attacks.kit import PROBE, TOKEN, Fork
from tests.gitkit import git, write

CASES: dict[str, "Case"] = {}
Change = Callable[[Fork], None]


@dataclass(frozen=True)
class Case:
    """A change, what has to be said to it, and the exit code."""

    change: Change
    says: tuple[str, ...]
    code: int


def case(*says: str, code: int | None = None) -> Callable[[Change], Change]:
    """Register a change by its function's name."""

    def keep(change: Change) -> Change:
        CASES[change.__name__.replace("_", " ")] = Case(change, says, int(bool(says)) if code is None else code)
        return change

    return keep


# ------------------------------------------------------------------------------------------------------------------- paths


@case("lies outside the workspace's folder workspaces/climate", "[code-outside-workspace]")
def code_path_up(f: Fork) -> None:
    f.run(more="code: {path: ../../../policy}\n")


@case("the code path /etc is absolute", "[code-path-absolute]")
def code_path_absolute(f: Fork) -> None:
    f.run(more="code: {path: /etc}\n")


@case("[look-alike]")
def code_path_with_a_null(f: Fork) -> None:
    f.run(more='code: {path: "src\\0/../../.."}\n')


@case("[code-path-name]")
def code_path_with_backslashes(f: Fork) -> None:
    f.run(more="code: {path: '..\\..\\..\\policy'}\n")


@case("[code-path-absolute]")
def entrypoint_absolute(f: Fork) -> None:
    f.run(("train.py", f"{f.outside}/secret"))


@case("lies outside the workspace's folder", "[code-outside-workspace]")
def entrypoint_of_another_workspace(f: Fork) -> None:
    f.run(("train.py", "../../speech/finetune/train.py"))


@case("[code-outside-workspace]")
def extra_script_of_policy(f: Fork) -> None:
    f.run(more="workflow: {extra_scripts: [../../../policy/platform.yaml:x.py]}\n")


@case("nonsense.py", "[entrypoint-missing]")
def entrypoint_that_looks_like_an_option(f: Fork) -> None:
    f.put({"--output=nonsense.py": "print()\n"})
    f.run(("train.py", "nonsense.py"))


@case()
def files_that_look_like_options_and_patterns(f: Fork) -> None:
    f.put(
        {"-rf": "x\n", "--upload-pack=evil": "x\n", ":(top)secret": "x\n", "*": "x\n", "$(evil)": "x\n", "`evil`": "x\n", "; evil": "x\n"}
    )


@case("holds a control character", "[code-file-name]")
def a_file_name_with_a_line_break(f: Fork) -> None:
    f.put({"a\n::error::b.py": "x\n"})


@case("is not UTF-8", "[code-file-name]")
def a_file_name_that_is_no_text(f: Fork) -> None:
    blob = git(f.repo, "hash-object", "-w", "--stdin", stdin=b"x")
    f.links.append("index")
    git(f.repo, "update-index", "--add", "-z", "--index-info", stdin=f"100644 {blob}\t{PROBE}/".encode() + b"\xff\xfe.py\0")
    write(f.repo, {})
    (f.repo / PROBE / os.fsdecode(b"\xff\xfe.py")).write_bytes(b"x")


@case("[document-unreadable]", "is a folder")
def a_folder_named_tau_yaml(f: Fork) -> None:
    f.put({f"{PROBE}/deep/tau.yaml/train.py": "x\n"})


# ------------------------------------------------------------------------------------------------------------------- links


@case("leads out of the workspace", "[code-link-outside]")
def a_link_to_a_file_of_the_machine(f: Fork) -> None:
    f.link("data.py", f"{f.outside}/secret")


@case("leads out of the workspace", "[code-link-outside]")
def a_link_up_and_out(f: Fork) -> None:
    f.link("data.py", "../../../../machine/secret")


@case("[code-link-outside]")
def a_link_to_policy(f: Fork) -> None:
    f.link("data", "../../../policy")


@case("[code-link-outside]")
def a_link_to_another_workspace(f: Fork) -> None:
    f.link("data", "../../speech")


@case("[code-link-dangling]")
def a_link_into_the_git_folder(f: Fork) -> None:
    f.link("data", "../../climate/../../.git/config")
    f.link("data.py", "./../probe/.git/config")


@case("leads back to itself", "[code-link-loop]")
def links_in_a_circle(f: Fork) -> None:
    f.link("a", "b")
    f.link("b", "a")


@case("[code-link-loop]")
def a_link_to_its_own_folder(f: Fork) -> None:
    f.link("again", ".")


@case("[code-too-many-files]")
def links_that_double_at_each_level(f: Fork) -> None:
    f.put({f"{PROBE}/z/end/x": "1\n"})
    for level in range(40):
        for name in ("a", "b"):
            f.link(f"{PROBE}/z/{level:02}/{name}", f"../{level + 1:02}" if level < 39 else "../end")


@case("is a symbolic link", "[document-unreadable]")
def a_document_that_is_a_link(f: Fork) -> None:
    f.link("tau.yaml", f"{f.outside}/secret")


@case("leads out of the workspace, to policy", "[code-link-outside]")
def a_code_path_that_is_a_link(f: Fork) -> None:
    f.link("src", "../../../policy")
    f.run(more="code: {path: src}\n")


@case("[document-unmatched]", code=0)
def a_workspace_that_is_a_link(f: Fork) -> None:
    f.link("workspaces/twin", "protein")
    f.put({"elsewhere/x/tau.yml": "name: x\n"})


# --------------------------------------------------------------------------------------------------------------------- git


@case("is a submodule", "[code-submodule]")
def a_submodule_with_a_command_for_url(f: Fork) -> None:
    write(f.repo, {".gitmodules": f'[submodule "x"]\n\tpath = {PROBE}/sub\n\turl = ext::sh -c evil\n\tupdate = !evil\n\tignore = all\n'})
    git(f.repo, "add", "-A")
    f.entry("160000", f"{PROBE}/sub", "1" * 40)
    f.links.append("index")


@case("[code-submodule]")
def a_link_into_a_submodule(f: Fork) -> None:
    f.link("data.py", "sub/x.py")
    git(f.repo, "add", "-A")
    f.entry("160000", f"{PROBE}/sub", "1" * 40)
    f.links.append("index")


@case("is kept in Git LFS: the repository holds a pointer", "[code-lfs]")
def an_lfs_pointer(f: Fork) -> None:
    f.put({"train.py": "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"})


@case("[code-lfs]")
def attributes_that_name_lfs(f: Fork) -> None:
    f.put({".gitattributes": "*.py filter=lfs diff=lfs merge=lfs -text\n"})


@case()
def attributes_that_name_filters_of_the_machine(f: Fork) -> None:
    write(f.repo, {".gitattributes": "* filter=evil diff=evil merge=evil ident export-subst\n"})


@case()
def hooks_where_the_machine_looks_for_some(f: Fork) -> None:
    for name in ("fsmonitor", "post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        write(f.repo, {f".githooks/{name}": f'#!/bin/sh\ntouch "{f.outside}/marks/hook"\n'})
        (f.repo / ".githooks" / name).chmod(0o755)


@case()
def a_bare_repository_among_the_code(f: Fork) -> None:
    config = "[core]\n\tbare = false\n\tworktree = /\n\tfsmonitor = evil\n[alias]\n\tls-files = !evil\n"
    f.put(
        {
            f"{PROBE}/inner/HEAD": "ref: refs/heads/main\n",
            f"{PROBE}/inner/config": config,
            f"{PROBE}/inner/objects/x": "",
            f"{PROBE}/inner/refs/x": "",
        }
    )


@case()
def settings_of_tools_that_run_programs(f: Fork) -> None:
    touch = f'import os; os.system("touch {f.outside}/marks/python")\n'
    for name in ("sitecustomize.py", "usercustomize.py", "taugen.py", "taugen/__init__.py", "yaml.py", "click.py", "conftest.py"):
        write(f.repo, {name: touch, f"{PROBE}/{name}": touch})
    write(
        f.repo,
        {".mailmap": "x\n", ".lfsconfig": "[lfs]\n\turl = https://evil.example\n", "pyvenv.cfg": "home = /\n", "Makefile": "x:\n\tevil\n"},
    )


# ------------------------------------------------------------------------------------------------------------- large, deep


@case("bytes", "[document-unreadable]", "a document is at most 256 KiB")
def a_document_of_20_megabytes(f: Fork) -> None:
    f.put({"tau.yaml": b"#" * 20_000_000})


@case("[more-findings]")
def a_document_full_of_mistakes(f: Fork) -> None:
    f.run(more="".join(f"wrong_key_{n}: 1\n" for n in range(9000)))


@case("[yaml-nesting]")
def brackets_without_end(f: Fork) -> None:
    f.put({"tau.yaml": "name: " + "[" * 100_000})


@case("[yaml-nesting]")
def indentation_without_end(f: Fork) -> None:
    f.put({"tau.yaml": "".join(f"{' ' * n}a:\n" for n in range(600))})


@case("the file holds 20000 documents, but at most 500 are read", "[file-documents]")
def thousands_of_documents_in_a_file(f: Fork) -> None:
    f.put({"tau.yaml": "---\nname: a\n" * 20_000})


@case("[code-too-many-files]")
def thousands_of_files(f: Fork) -> None:
    f.links.append("index")
    blob = git(f.repo, "hash-object", "-w", "--stdin", stdin=b"x\n")
    listed = "".join(f"100644 {blob}\t{PROBE}/many/{n // 500}/{n}\0" for n in range(20_100))
    git(f.repo, "update-index", "--add", "-z", "--index-info", stdin=listed.encode())
    git(f.repo, "checkout-index", "-q", "-a")


@case("data.bin has 1073741824 bytes, more than the", "[code-unreadable]")
def a_file_of_a_gigabyte(f: Fork) -> None:
    with (f.repo / PROBE / "data.bin").open("wb") as file:
        file.truncate(1 << 30)
    git(f.repo, "add", "-N", ".")
    f.links.append("index")


@case("[code-")
def a_large_file_that_may_be_read(f: Fork) -> None:
    with (f.repo / PROBE / "data.bin").open("wb") as file:
        file.truncate((128 << 20) - 1)
    git(f.repo, "add", "-N", ".")
    f.links.append("index")


# -------------------------------------------------------------------------------------------------------------------- bombs


@case("[yaml-anchor]", "[yaml-alias]")
def a_billion_laughs(f: Fork) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    f.put({"tau.yaml": "a0: &a0 lol\n" + levels + "name: *a8\n"})


@case("[yaml-merge]")
def merge_keys(f: Fork) -> None:
    f.put({"tau.yaml": "base: &b {name: x}\n<<: *b\n"})


@case("[yaml-tag]")
def tags_that_build_objects(f: Fork) -> None:
    f.run(more='description: !!python/object/apply:os.system ["evil"]\n')


@case("compute.memory", "error")
def numbers_without_end(f: Fork) -> None:
    f.run(("memory: 1Gi", f"memory: {'9' * 50_000}Gi"), ("cpus: 1", f"cpus: {'9' * 50_000}"), more="generation: 1e999999999\n")


@case("error")
def exponents_without_end(f: Fork) -> None:
    f.run(("memory: 1Gi", "memory: 1e999999999"), ("cpus: 1", "cpus: 1e-999999999"), more=f"resilience: {{backoff_max: {'9' * 9000}h}}\n")


@case("[code-pattern]")
def patterns_that_explode(f: Fork) -> None:
    f.put({"a" * 200 + "/" + "a" * 200: "x\n"})
    f.run(more=f"code: {{exclude: ['{'a*' * 100}b', '{'**/' * 100}x', '{'*a' * 200}', '{'[a-z]*' * 60}!']}}\n")


@case("[code-pattern]")
def patterns_that_are_none(f: Fork) -> None:
    f.run(more=f"code: {{include: ['{'[' * 5000}', '{'a' * 5000}', '(a+)+$']}}\n")


@case("there are 2500 patterns, but at most 200 are taken", "[code-pattern]")
def thousands_of_patterns(f: Fork) -> None:
    f.run(more="code: {exclude: [" + ", ".join(f"'**/{'a*' * 30}{n}'" for n in range(2500)) + "]}\n")


@case()
def imports_that_explode(f: Fork) -> None:
    f.put({"train.py": "(" * 50_000 + "\n" + "import x\n" * 20_000})
    f.put({"workspaces/climate/x.py": "x\n"})


# --------------------------------------------------------------------------------------------------- terminals, runners, eyes


@case("U+001B a control character", "[run-name]")
def escapes_in_a_name(f: Fork) -> None:
    f.run(("name: probe", 'name: "\\e[2J\\e]0;owned\\a"'))


@case("unknown key", "\\x1b]8;;https://evil.example\\x1b")
def a_hyperlink_in_a_key(f: Fork) -> None:
    f.run(more='"\\e]8;;https://evil.example\\e\\\\click\\e]8;;\\e\\\\": 1\n')


@case("\\n::add-mask::probe")
def a_workflow_command_after_a_line_break(f: Fork) -> None:
    f.run(more='"x\\n::add-mask::probe\\n::set-output name=ok::true": 1\n')


@case("\\x3a:stop-commands::tau/tau.yml", code=0)
def a_file_by_the_name_of_a_workflow_command(f: Fork) -> None:
    f.put({"::stop-commands::tau/tau.yml": "name: x\n"})


@case("#\\x23[add-mask]", "#\\x23vso[task.setvariable")
def commands_of_other_runners(f: Fork) -> None:
    f.run(more='"##[add-mask]x": 1\n"##vso[task.setvariable variable=x]y": 1\n"section_start:0:x\\r\\e[0K": 1\n')


@case("@team/owners", "unknown key")
def markup_in_keys(f: Fork) -> None:
    f.run(more='"@team/owners #1 ![x](https://evil.example) | </td><script>alert(1)</script>": 1\n"]]>": 1\n')


@case("%0A::error", "unknown key")
def percent_signs(f: Fork) -> None:
    f.run(more='"100%25 %0A::error file=x::y": 1\n')


@case("\\u202e")
def text_that_runs_backwards(f: Fork) -> None:
    f.run(("name: probe", 'name: "prob\\u202ee"'))


@case("holds a character that hides how the name is written", "[code-file-name]")
def a_file_name_that_runs_backwards(f: Fork) -> None:
    f.put({"train\u202eyp.exe": "x\n"})


@case("CYRILLIC SMALL LETTER ER", "[run-name]")
def a_name_in_other_letters(f: Fork) -> None:
    f.run(("name: probe", "name: рrobe"))


@case("[profile-unknown]")
def a_profile_in_other_letters(f: Fork) -> None:
    f.run(("profile: cpu", "profile: сpu"))


@case("[workspace-unknown]")
def a_workspace_in_other_letters(f: Fork) -> None:
    f.put({"workspaces/рrotein/x/tau.yaml": "name: x\n"})


# ------------------------------------------------------------------------------------------------------------ other tenants


@case("protein", "[workspace-mismatch]")
def another_workspace(f: Fork) -> None:
    f.run(more="workspace: protein\n")


@case("kube-system", "[workspace-mismatch]")
def another_namespace(f: Fork) -> None:
    f.run(("profile: cpu", "profile: cpu, namespace: kube-system"))


@case("[queue-unknown]")
def a_queue_of_the_cluster(f: Fork) -> None:
    f.run(("profile: cpu", "profile: cpu, queue: research-all"))


@case("audio", "[storage-unknown]")
def storage_of_another_workspace(f: Fork) -> None:
    f.run(more="storage: {data: audio}\n")


@case("speech-audio", "[storage-unknown]")
def a_claim_by_its_own_name(f: Fork) -> None:
    f.run(more="storage: {data_pvc: speech-audio}\n")


@case("deploy-key", "[secret-unknown]")
def a_secret_that_the_workspace_does_not_have(f: Fork) -> None:
    f.run(("runtime:\n", "runtime:\n  env_secret: {K: deploy-key:token}\n"))


@case("service_account", "[unknown-key]", "serviceAccountName")
def a_service_account(f: Fork) -> None:
    f.run(more="service_account: speech-runs\npod: {serviceAccountName: speech-runs}\n")


@case("fjord", "[cluster-unknown]")
def a_cluster_of_others(f: Fork) -> None:
    f.run(("profile: cpu", "profile: cpu, cluster: fjord"))


@case("l40s-small", "[profile-unknown]")
def a_profile_of_others(f: Fork) -> None:
    f.run(("profile: cpu", "profile: l40s-small"))


@case("urgent", "error")
def a_priority_that_the_profile_does_not_allow(f: Fork) -> None:
    f.run(("profile: cpu", "profile: cpu, priority: urgent"))


@case("kueue.x-k8s.io/queue-name", "taugen.dev/workspace", "error")
def labels_that_others_own(f: Fork) -> None:
    f.run(more="labels: {kueue.x-k8s.io/queue-name: speech, taugen.dev/workspace: speech}\n")


@case("[reserved-env]")
def variables_that_others_own(f: Fork) -> None:
    f.run(("runtime:\n", "runtime:\n  env: {TAU_RUN_ID: x, KUEUE_X: y}\n"))


@case("[image-registry]")
def an_image_from_elsewhere(f: Fork) -> None:
    f.run(("registry.tern.example/climate", "registry.tern.example.evil.example/climate"))


@case("[code-git]")
def code_from_elsewhere(f: Fork) -> None:
    f.run(more=f"code: {{delivery: git, git: {{url: 'https://git.tern.example/research@evil.example/x', ref: '{'1' * 40}'}}}}\n")


@case("[credential]")
def a_secret_in_plain_text(f: Fork) -> None:
    f.run(("runtime:\n", f"runtime:\n  env: {{ACCESS: {TOKEN}}}\n"))


# ------------------------------------------------------------------------------------------------------------------- policy


def greedy(f: Fork) -> None:
    f.run(("memory: 1Gi", "memory: 900Gi"))


@case("200Gi", "[profile-limit]", "judged by the policy of main", "1 policy file changed here: policy/profiles.yaml")
def a_loosened_profile(f: Fork) -> None:
    greedy(f)
    text = (f.repo / "policy/profiles.yaml").read_text()
    write(f.repo, {"policy/profiles.yaml": text.replace("max: 200Gi", "max: 2000Gi")})


@case("[storage-unknown]", "[policy-not-judged]")
def a_storage_that_is_opened(f: Fork) -> None:
    storage_of_another_workspace(f)
    text = (f.repo / "policy/tenants/storage.yaml").read_text()
    write(f.repo, {"policy/tenants/storage.yaml": text.replace("[speech]", "[speech, climate]")})


@case("[profile-limit]", "1 policy file changed here: taugen.yaml")
def another_taugen_yaml(f: Fork) -> None:
    greedy(f)
    head = "apiVersion: taugen.dev/v1alpha1\nkind: Project\nmetadata: {name: mine}\n"
    write(f.repo, {"taugen.yaml": head + "spec: {policy: [{path: workspaces}], runs: [nothing]}\n"})


@case("[profile-limit]", "1 policy file changed here: taugen.yaml")
def no_taugen_yaml(f: Fork) -> None:
    greedy(f)
    write(f.repo, {"taugen.yaml": None})


@case("2 policy files changed here: taugen.lock, taugen.yaml", code=0)
def policy_from_a_repository_of_their_own(f: Fork) -> None:
    text = (f.repo / "taugen.yaml").read_text()
    write(f.repo, {"taugen.yaml": text.replace("- path: policy", "- git: {url: 'ext::sh -c evil', ref: main, path: .}")})
    write(f.repo, {"taugen.lock": f"repositories:\n- {{url: 'ext::sh -c evil', ref: main, path: ., commit: {'1' * 40}}}\n"})


@case("[profile-limit]", "policy/profiles.yaml")
def policy_that_is_a_link(f: Fork) -> None:
    greedy(f)
    f.link("policy/profiles.yaml", "../workspaces/climate/probe/profiles.yaml")
    f.put({"profiles.yaml": "kind: Profile\n"})


@case("[policy-not-judged]", "overlays/mesa/registry.yaml", ".taugen/schemas/evil.json", code=0)
def overlays_and_schemas(f: Fork) -> None:
    write(f.repo, {"overlays/mesa/registry.yaml": "x: [\n", ".taugen/schemas/evil.json": "[" * 100_000})

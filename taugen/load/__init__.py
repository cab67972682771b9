"""What stands in repositories: files, commits, YAML with positions.

In: folders, refs, bytes. Out: source trees, documents whose every value knows its line and column, answers of git. The one way to git is
`git`; nothing above this package starts a program, but for signatures. What must never happen: a file outside of the project read, code of
the repository run, bytes of a document that no longer fit its positions.
"""

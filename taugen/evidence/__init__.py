"""Evidence: append-only records of what happened to each attempt, as files of a Git branch.

`paths` says where each file stands, `event` what one says, `history` folds the events of an attempt into its state; the rest of the package
writes, reads and proves the branch. Nothing here talks to a cluster.
"""

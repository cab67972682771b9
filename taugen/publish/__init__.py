"""The deploy branch: what stands there, what should, and the commit that leads from one to the other.

In: what the documents wish, compiled runs, the platform's files. Out: a commit, or a refusal that names what it is about. Nothing is moved
by force, nothing is half written: a branch is either old or new.
"""

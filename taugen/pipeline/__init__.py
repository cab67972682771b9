"""The pipeline: load -> spec -> policy -> resolve -> render -> validate, as one function a document.

In: a source tree. Out: compiled runs, the platform's objects and findings. Commands call this and `publish`; the stages below know
nothing of each other's order.
"""

"""From objects of the API to events: one module a kind, each a pure function of one object.

An event holds only what is fixed once the object says so: early and late observers write the same bytes.
"""

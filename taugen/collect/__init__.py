"""The collector: what a cluster's API says about runs, as events of the evidence branch.

`collect` is the only part of taugen that talks to a cluster; Git is its only state.
"""

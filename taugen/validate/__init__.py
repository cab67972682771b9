"""Judgement: rules on documents, policy, decided runs and final objects, and the schemas of the real APIs.

In: what the stages above hand over. Out: findings. A rule changes nothing and never sees what another found.
"""

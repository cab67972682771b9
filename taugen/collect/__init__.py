"""The collector: from a cluster's API to evidence.

`api` is the door to Kubernetes and `clock` the one to time; `watch` follows resources, `derive` turns objects into events, `runs` says
whose they are, `logs`, `metrics` and `checkpoints` read what stands beside, `loop` puts it all together and commits.
"""

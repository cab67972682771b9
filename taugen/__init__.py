"""taugen: compiles tau.yaml and platform policy into Kubernetes manifests and commits them."""

__version__ = "0.1.0"

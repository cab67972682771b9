"""How quick taugen is: `python -m benchmarks`. Nothing here is shipped or imported by taugen."""

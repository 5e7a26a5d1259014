"""Steps per second of this package and of its peers, in one run: `python -m reinfors.bench`.

Nothing here is imported with the package, and no peer is needed: one that is not installed is left out with a line.
"""

"""Theorems proved by z3, one a file: what holds, in prose; base and step; and what refutes it.

`python -m proofs` proves them all and prints the time that each took.
"""

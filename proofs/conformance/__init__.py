"""Each model that z3 proved and each twin that CrossHair confirmed equals the shipped code.

A proof is about the function that it was written for.  The models of `proofs/smt` run on
numbers as they stand, so here each runs beside the code that ships, on thousands of inputs.
"""

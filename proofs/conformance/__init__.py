"""Each model that z3 proved and each twin that CrossHair confirmed equals the shipped code.

A proof is about the function that it was written for.  The steps of the models of `proofs/smt` run
on numbers as they stand, so here each runs, in a loop over the input, beside the code that ships.
"""

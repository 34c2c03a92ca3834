"""Plain Python twins of the stages, three items at most, with contracts that CrossHair confirms.

CrossHair runs a function on symbolic values along every path and asks z3 whether a value breaks the
contract; "confirmed over all paths" is a proof.  `python -m proofs` demands that answer of
each function of `twins`, and a counterexample of each function of `refuted`.
"""

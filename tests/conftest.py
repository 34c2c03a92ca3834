"""The Hypothesis profiles: `dev` at a desk, `ci` the same every time, `thorough` now and then.

Chosen by the environment variable HYPOTHESIS_PROFILE, or by pytest's --hypothesis-profile.
"""

import os

from hypothesis import HealthCheck, settings

# No deadline: a first call may compile a kernel, and machines differ.
settings.register_profile(
    "dev",
    deadline=None,
    print_blob=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, database=None)
settings.register_profile("few", settings.get_profile("ci"), max_examples=10)
settings.register_profile("thorough", settings.get_profile("dev"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))

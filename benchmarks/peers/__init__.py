"""What people use today, each behind one function with the same input as ours.

`harness.installed` raises MissingError where one is absent, and the table says so.
"""

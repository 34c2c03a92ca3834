"""How fast we are, beside what people use today: `make bench`, or `python -m benchmarks`.

harness.py          contenders measured turn and turn about; medians, ratios, JSON
inputs.py           the inputs, the same for all
knapsack.py ...     one job a file
peers/              the others, each behind one function; a missing one is reported
selecting.py        our choice from arrays, and how far another is the same
goals.py            the goals, read from the rows
growth.py           fitted exponents
tables.py           Markdown for docs/performance.md from the JSON
soak.py             100,000 requests through one Packer; memory must not grow
"""

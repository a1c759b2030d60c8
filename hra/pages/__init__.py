"""Pages to look at: the report of the demonstration, and the explorer with a slider over all budgets.

Both are HTML files with everything inside. They use the library as any program does, and may import every domain.
"""

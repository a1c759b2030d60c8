"""A module that cannot be imported."""

raise ZeroDivisionError("at import")

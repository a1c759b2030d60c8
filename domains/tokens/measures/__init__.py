"""What a token set is worth: coverage, efficiency, redundancy, similarity."""

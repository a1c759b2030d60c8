"""What an answer is worth: how much the rules that others run lose on real data."""

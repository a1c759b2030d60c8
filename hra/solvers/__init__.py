"""Private numerics behind the traversals: what finds sets, prices and bounds."""

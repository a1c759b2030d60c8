"""A graph as a hierarchy, and back."""

import networkx

import hra

graph = networkx.DiGraph([(0, 1), (0, 2), (1, 3), (1, 4)])
networkx.set_node_attributes(graph, 1, "cost")
tree = hra.Hierarchy.from_networkx(graph)
assert len(tree) == 2 and list(tree.to_networkx().edges) == [(0, 1)], tree
print(f"networkx {networkx.__version__}")

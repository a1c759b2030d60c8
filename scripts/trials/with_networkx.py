"""A graph as a hierarchy, and back."""

import networkx

import hra

graph = networkx.DiGraph()
graph.add_nodes_from(range(5), cost=1)
graph.add_edges_from([(0, 1), (0, 2), (1, 3), (1, 4)])
tree = hra.Hierarchy.from_networkx(graph)
assert len(tree) == 2 and list(tree.to_networkx().edges) == [(0, 1)], tree
print(f"networkx {networkx.__version__}")

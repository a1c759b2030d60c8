"""Drawing cuts of cluster hierarchies the way a GPU wants it: slots, culling and listing in compute, one indirect draw.

Data runs one way: geometry in slots (`store`), instances and their cuts as bits (`placed_cuts`), those as candidates
(`candidates`), what a pass keeps of them (`culling`), one draw per pass (`renderer`), colours from what is visible
(`shading`). Nothing unchanged is uploaded twice: no triangle, matrix or cut.
"""

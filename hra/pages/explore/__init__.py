"""Pages to move a budget on: one HTML file each, with everything that it shows inside.

A `Track` is what an allocator answers at a row of budgets, written as changes from one to the next, so that the page
shows exactly what Python allocated. `tokens`, `meshes` and `textures` say what there is to draw; `page` puts it into a
file that asks no other host for anything. What runs in the browser lies in ``web``.
"""

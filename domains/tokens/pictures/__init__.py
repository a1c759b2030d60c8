"""Pictures of tokens on their image.

Arrays of pixels that show a token set; files are written by `hra.files.images`.
"""

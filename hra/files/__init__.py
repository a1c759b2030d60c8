"""What keeps files, memory and processes safe.

Here belongs what every reader and writer of every room needs, and what knows no hierarchy: limits that are checked
before memory is taken, paths that name plain local files, JSON of bounded depth, files and folders that are whole or
not there, and forks that cannot hang.
"""

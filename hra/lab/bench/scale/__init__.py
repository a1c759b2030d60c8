"""The scale suite: jobs over folders, by one process and by two, and beside Ray Data."""

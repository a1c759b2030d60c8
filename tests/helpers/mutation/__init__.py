"""Changes of the sources, put into a running process, and the tests that judge them (`make mutants`)."""

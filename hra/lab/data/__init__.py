"""Real inputs for the demo, the examples and the tests; NOTICE names the sources and licences."""

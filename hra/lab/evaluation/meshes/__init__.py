"""What cuts of a cluster mesh look like beside other ways to spend as many triangles."""

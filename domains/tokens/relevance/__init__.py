"""What of an image matters to a query, patch by patch."""

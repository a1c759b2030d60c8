"""The texture array: numbered channels of an image that need no weights."""

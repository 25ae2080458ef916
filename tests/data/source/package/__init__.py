"""A folder of files that import each other."""

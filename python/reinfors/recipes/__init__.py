"""Training recipes to read and to run, one file each; none is imported with the package."""

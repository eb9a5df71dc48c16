"""The only package that knows Iceberg: the catalog, branches, data files and publishing."""

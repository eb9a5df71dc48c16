"""The only room that knows Iceberg: the catalog, branches, data files and publishing."""

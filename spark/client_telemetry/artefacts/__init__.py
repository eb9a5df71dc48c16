"""What is written about clients, before any broker sees them: lock files, SBOMs, archives and images, and the libraries
that they name. Pure: no Spark, no Airflow, no network; nothing that is read is executed.

`scan.scan` reads files and folders, `files` knows which reader is for which file, and `judged` gives the verdict of the
judge for a client that declares the library which is written down.
"""

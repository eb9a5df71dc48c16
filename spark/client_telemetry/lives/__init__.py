"""Lives of client instances from their pushes, in Python workers: what sessionize.py has Spark share out."""

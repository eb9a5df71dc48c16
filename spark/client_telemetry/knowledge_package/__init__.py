"""The knowledge base as a data package: files, signatures, where it is kept, what differs between two of them, and what
builds one from the artefacts of releases. What is known, and how it is read, is in `knowledge`.
"""

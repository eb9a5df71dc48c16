"""Readers of single files: each takes a file's text and gives the packages that it names, with their lines.

They know formats only. Which of the packages have to do with Kafka is known_packages' part, which file is read by which
reader that of `files`.
"""

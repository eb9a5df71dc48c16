"""What is written joined with what was seen, as text, Markdown and JSON. Names of clients, files and packages are those of
strangers: control characters are made visible, and no markup of theirs is kept.
"""

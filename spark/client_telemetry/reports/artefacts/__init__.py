"""What `client-telemetry scan` found, as text, JSON, Markdown and SARIF. Names of packages and files are those of strangers:
control characters are made visible, and no markup of theirs is kept.
"""

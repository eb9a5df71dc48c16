"""What a change of KIP-714 subscriptions would do, as a document: one content, and how it looks as JSON, CSV, Markdown
and HTML."""

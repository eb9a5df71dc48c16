"""An answered upgrade question as HTML, JSON, CSV and Markdown."""

"""What the pages of a day and of a question need beside the tables' own rows."""

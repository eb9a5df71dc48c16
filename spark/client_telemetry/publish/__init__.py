"""What the pages of a day and of a question need in addition to the tables' own rows."""

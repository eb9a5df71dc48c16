"""What a day's fleet page counts, in Spark and from the tables' files."""

"""The limits as rows: nothing here is larger than 8 MB, and most is a few KB."""

"""The revisions, in order of their numbers. A released one is never edited."""

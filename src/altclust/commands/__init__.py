"""The commands of the command line that work on a table, one file each."""

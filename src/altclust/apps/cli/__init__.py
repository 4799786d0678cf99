"""The command line: `main` joins the commands, one file each."""

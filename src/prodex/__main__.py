"""`python -m prodex` is the command `prodex`."""

from prodex.cli import main

main()

"""`python -m prodex` is the command `prodex`."""

from prodex.cli import main

if __name__ == "__main__":
    main()

"""`python -m prodex.sandbox`, the same as `prodex sandbox`."""

import sys

from prodex.sandbox.command import main

if __name__ == "__main__":
    sys.exit(main())

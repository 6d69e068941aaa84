"""`python -m prodex_sandbox`, the same as `prodex sandbox`."""

import io
import sys

from prodex_sandbox.command import main

if __name__ == "__main__":
    # Windows opens pipes in an encoding of 256 letters; what others it prints are shown as escapes.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())

"""`python -m prodex.sandbox`, the same as `prodex sandbox`."""

import sys

from prodex.sandbox.command import main

sys.exit(main())

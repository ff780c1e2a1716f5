"""`python -m tenuto`: the command, where its script is not on the path."""

import sys

from tenuto.cli import main

sys.exit(main())

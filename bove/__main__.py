"""`python -m bove` is the `bove` command."""

import sys

from bove.cli.main import main

sys.exit(main())

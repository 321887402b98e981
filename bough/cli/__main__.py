"""`python -m bough.cli`: the command where its script is not on the path."""

from bough.cli import main

raise SystemExit(main())

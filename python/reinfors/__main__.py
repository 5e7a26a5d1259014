"""`python -m reinfors` is the command `reinfors`."""

from reinfors.cli import main

main()

"""The command `reinfors`, one file per subcommand; each imports what it needs when it is called.

`reinfors.cli.app` holds the arguments, the other files do the work.
"""

import sys


def main() -> None:
    """Runs the command line, or says what to install for it."""
    try:
        from reinfors.cli.app import app
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] == "reinfors":
            raise
        sys.exit(f"reinfors: the command line needs {missing.name}: pip install 'reinfors[cli]'")
    app()

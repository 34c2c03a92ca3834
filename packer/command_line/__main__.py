"""`python -m packer.command_line`, where the script `packer` is not on the path."""

from . import main

if __name__ == "__main__":
    raise SystemExit(main())

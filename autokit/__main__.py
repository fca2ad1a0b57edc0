"""``python -m autokit`` is the command ``autokit``."""

from autokit.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

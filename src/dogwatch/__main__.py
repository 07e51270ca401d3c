import sys

from dogwatch.safe_path import leave_current_directory

leave_current_directory()

from dogwatch.cli.main import main  # noqa: E402  # not before it is safe

sys.exit(main())

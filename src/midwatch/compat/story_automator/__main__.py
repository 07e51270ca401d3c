import sys

from midwatch.safe_path import leave_current_directory

leave_current_directory()

from midwatch.compat.story_automator.main import main  # noqa: E402  # not before it is safe

sys.exit(main())

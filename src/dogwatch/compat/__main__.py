import sys

from dogwatch.compat.main import main

sys.exit(main())

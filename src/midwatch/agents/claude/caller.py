"""Variables by which Claude Code marks what runs below it. How one signs in, and to whom, is not among them."""

from __future__ import annotations

import re

VARIABLES = re.compile(
    r"CLAUDECODE"
    r"|CLAUDE_CODE_(?!OAUTH_TOKEN|USE_|SKIP_|CLIENT_|API_KEY_|DISABLE_|MAX_|SUBAGENT_MODEL|EXTRA_BODY).*"
)

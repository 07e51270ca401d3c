"""Settings files as text and as values: TOML with positions, tables, templates. Pure, with one kind of error."""

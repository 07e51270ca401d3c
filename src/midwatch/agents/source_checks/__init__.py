"""Sources of a turn check each other: which of them are not believed for a release of an agent."""

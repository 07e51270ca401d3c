"""From events to periods, and from periods to a report."""

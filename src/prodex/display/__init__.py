"""What people see of the values: their reprs, the report of an audit, charts, contact sheets."""

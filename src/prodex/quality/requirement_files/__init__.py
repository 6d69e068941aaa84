"""Requirements as files: the workbook that people fill in, CSV and TOML, written and read."""

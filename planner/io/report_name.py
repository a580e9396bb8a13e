"""Name of the report in a folder of results."""

REPORT_NAME = "report.html"

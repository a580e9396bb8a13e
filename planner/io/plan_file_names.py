"""Names of files in a plan folder that do not depend on its contents."""

REPORT_NAME = "report.html"
DOCUMENT_NAME = "plan.json"

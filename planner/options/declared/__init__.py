"""
The options of a plan, each declared once, with its type, help, reader and default.

A field of `plan_options.PlanOptions` is an option; its annotation carries an
`option.Option`. Derived from it are the parameters of the commands and their
environment variables (`planner.cli.plan.declared_options`), the keys of `planner.toml`
(`planner.cli.plan.config_options`), the settings of plan.json and their JSON Schema
(`planner.options.settings_document`, `planner.plan.documents.settings_records`), the
requests of a sweep (`planner.fleet.cluster_plans`) and the table in docs/config.md.
`planner.options.plan_request.read_values` reads texts and typed values alike, the only
place where text is parsed; `planner.options.cluster_options` looks up what they name in
a cluster and makes settings of them.

A new option is a field and a keyword in one of the modules here, and the field of the
settings of `placement` that it `sets`.

Imports `planner.errors` and `planner.text`, and the rest inside functions: every
command reads the declaration when it starts.
"""

"""Pages of the report and of the service: one set of templates, which escape every text."""

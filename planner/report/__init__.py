"""
Reports as self-contained HTML pages, and the same charts as files and in notebooks.

Contents are made of documents (plan.json, scores, …) as blocks of a page; pictures hold
the numbers of a chart. Altair, vl-convert and Jinja2, the extra ``[report]``, are
imported only where a chart or a page is rendered.
"""

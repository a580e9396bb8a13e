"""
Contents of reports as blocks, made of the documents of plans and scores.

Imports documents, sentences of screens and pictures, but no library of reports.
"""

"""Runs the checks in processes of their own and compares with the table. Needs Python alone."""

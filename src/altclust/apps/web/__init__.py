"""The page in the browser: choose what you know, see what else is there, brush, name, go on, take it home.

It shows the same summary as the report. Only `page`, `choosing`, `showing` and `waiting` know Streamlit.
"""

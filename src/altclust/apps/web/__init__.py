"""The page in the browser: choose a table and what is known, find alternatives, select rows, name clusters, download.

It shows the same summary as the report. Only `page`, `input_form`, `preview`, `results_view`, `progress_view` and
`brushing` use Streamlit.
"""

"""The panel for notebooks: explore, audit, compare, correct and load products, and use the result in Python.

It is one anywidget over a session, which its sections show and their buttons change (`session`, `views`, `app`). Text
of suppliers is shown verbatim: as text nodes that our scripts make (`js`), or escaped where no script runs (`static`).
"""

"""Panels for JupyterLab: query, explore, audit and compare products, and use the result in Python.

Every panel takes a catalogue (or a service, or a name) and exposes its result as a traitlet. Panels observe one
`Exploration` and never each other. Decisions are made in modules without widgets, which are tested without a browser.
Only ipywidgets and anywidget are used. Text of suppliers is shown verbatim: in buttons, options, elements that our
scripts make, or escaped HTML. It is never put into a `Label`, a `Checkbox` or a description, where JupyterLab typesets
formulas.
"""

"""Widgets for JupyterLab: what is asked for, looked at, judged and compared, each handed back to Python.

Every widget takes a catalogue (or a service, or a name) and gives something back as a trait; they observe one
`Exploration` and never each other. What they decide stands in modules without widgets, which are tested without a
browser. Only ipywidgets and itables are used. Whatever suppliers typed is shown verbatim: in buttons, options, cells of
itables or escaped HTML, and never in a `Label`, a `Checkbox` or any description, where notebooks typeset formulas.
"""

"""What marimo runs for each tab of the page: the panel, and nothing else."""

import marimo

app = marimo.App(width="full", app_title="prodex")


@app.cell
def _():  # type: ignore[no-untyped-def] # as marimo writes and reads it
    import marimo as mo

    from prodex.page.serving import panel_for

    mo.ui.anywidget(panel_for(mo.app_meta().request))
    return  # noqa: PLR1711 - likewise


if __name__ == "__main__":
    app.run()

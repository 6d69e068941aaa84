"""The explorer as a page of a browser, for those who open no notebook: `prodex open`.

marimo runs `explorer` for each tab, over what `SnapshotPage` holds. `guard` stands before all that is asked of it, and
`serving` says where it is and ends it.
"""

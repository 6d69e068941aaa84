"""Worklists: what suppliers get, send back and get again; `folder` writes them, `read_worklist` reads them."""

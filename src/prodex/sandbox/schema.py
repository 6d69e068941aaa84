"""The tables of the store."""

from __future__ import annotations

from typing import Final

from prodex.sandbox.search import SEARCH_FIELDS

#: Changes whenever a store of the time before cannot be used any more.
VERSION: Final = "4"

#: What filters ask for stands in columns; records are bytes in a table of their own, so that choosing products
#: never reads them. A viewer sees the version of a product that `views.seen_key` names: the product itself, or
#: what the viewer made of it by writing on it, which is a row of `products` too, and one of `versions`. Its
#: `updated_at` stands in `views` as well, kept by triggers, so that products in a span of time are counted from one
#: index alone: loaders ask for such counts by the hundred.
TABLES: Final = f"""
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE organizations (
    id INTEGER PRIMARY KEY, position INTEGER, name TEXT, type INTEGER, client_id TEXT UNIQUE,
    client_secret TEXT, username TEXT, scenarios_enabled INTEGER, deadlines_enabled INTEGER
);
CREATE TABLE products (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER, uuid TEXT, gtin TEXT, owner_id INTEGER, updated_at INTEGER,
    pictures_updated_at INTEGER, has_packshot INTEGER, consumer_unit INTEGER
);
CREATE TABLE records (key INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE views (
    organization_id INTEGER, product_key INTEGER, seen_key INTEGER, shared_from INTEGER, shared_with INTEGER,
    product_status TEXT, active_range INTEGER, validation_status INTEGER, target_market INTEGER, updated_at INTEGER,
    overlay BLOB, PRIMARY KEY (organization_id, product_key)
) WITHOUT ROWID;
CREATE TABLE versions (
    key INTEGER PRIMARY KEY, product_key INTEGER, organization_id INTEGER, attributes TEXT
);
CREATE TABLE tags (
    organization_id INTEGER, product_key INTEGER, name TEXT, created_at TEXT,
    PRIMARY KEY (organization_id, product_key, name)
) WITHOUT ROWID;
CREATE TABLE labels (code TEXT, label TEXT, language TEXT, text TEXT);
CREATE TABLE referentials (
    name TEXT, code TEXT, body BLOB, PRIMARY KEY (name, code)
) WITHOUT ROWID;
CREATE TABLE imports (
    tracking INTEGER PRIMARY KEY AUTOINCREMENT, organization_id INTEGER, endpoint TEXT, media_type TEXT,
    received REAL, payload BLOB, attempts INTEGER DEFAULT 0, status TEXT DEFAULT 'IN_PROGRESS',
    message TEXT DEFAULT '', count INTEGER DEFAULT 0, outcomes BLOB DEFAULT '[]'
);
CREATE TABLE segments (
    organization_id INTEGER, id TEXT, parent_id TEXT, position INTEGER, name TEXT,
    PRIMARY KEY (organization_id, id)
) WITHOUT ROWID;
CREATE TABLE segment_permissions (
    organization_id INTEGER, segment_id TEXT, permission TEXT,
    PRIMARY KEY (organization_id, segment_id, permission)
) WITHOUT ROWID;
CREATE TABLE scenarios (
    organization_id INTEGER, id TEXT, name TEXT, deadlines_enabled INTEGER, PRIMARY KEY (organization_id, id)
) WITHOUT ROWID;
CREATE TABLE activations (
    organization_id INTEGER, product_key INTEGER, scenario_id TEXT, deadline TEXT,
    PRIMARY KEY (organization_id, product_key, scenario_id)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE texts USING fts5 (
    {", ".join(SEARCH_FIELDS.values())}, tokenize = 'unicode61 remove_diacritics 2'
);
"""

# Made after the rows, which is faster.
INDEXES: Final = """
CREATE INDEX products_by_gtin ON products (gtin);
CREATE INDEX products_by_uuid ON products (uuid);
CREATE INDEX products_by_id ON products (id);
CREATE INDEX views_by_product ON views (product_key);
CREATE INDEX views_by_seen ON views (seen_key);
CREATE INDEX views_by_update ON views (organization_id, updated_at);
CREATE INDEX tags_by_product ON tags (product_key);
CREATE INDEX activations_by_product ON activations (product_key);
CREATE INDEX versions_by_product ON versions (product_key);
CREATE INDEX imports_waiting ON imports (tracking) WHERE payload IS NOT NULL;
"""

# They keep `views.updated_at`. While a store is filled, nothing moves.
TRIGGERS: Final = """
CREATE TRIGGER product_updated AFTER UPDATE OF updated_at ON products BEGIN
    UPDATE views SET updated_at = new.updated_at WHERE seen_key = new.key;
END;
CREATE TRIGGER view_changed AFTER UPDATE OF seen_key ON views BEGIN
    UPDATE views SET updated_at = (SELECT updated_at FROM products WHERE key = new.seen_key)
    WHERE organization_id = new.organization_id AND product_key = new.product_key;
END;
"""

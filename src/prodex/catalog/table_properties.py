"""The tables of a catalogue as properties, so that an editor proposes them and says what is in them.

Written from the declaration in `prodex.tables` by `python tests/test_catalog_tables.py --write`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class TableProperties:
    """What has the tables of a catalogue; `_frame` reads one of them."""

    if TYPE_CHECKING:

        def _frame(self, table: str) -> pd.DataFrame: ...

    @property
    def products(self) -> pd.DataFrame:
        """One row per product.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), uuid (universally unique id of the product), json_version (version
        of the record's format), created_at (created; local time without zone), updated_at (last changed by anybody;
        local time without zone), is_consumer_unit (sold to consumers), is_display_unit (display unit),
        is_despatch_unit (despatch unit), is_orderable_unit (can be ordered), is_invoice_unit (can be invoiced),
        is_promotional_item (promotional item), is_nomadic (consumed on the go), is_marked_recyclable (marked as
        recyclable), has_batch_number (carries a batch number), life_cycle (life cycle), sharing_status (DRAFT=2,
        PENDING=3, ACCEPTED=4), product_status (status on the retailer's side), validation_status (0 none, 1 not OK,
        2 OK, 3 correction), suggestion_count (open suggestions of the validation), regulatory_status (regulatory
        validation), brand_code (brand: code, which never changes), brand (brand: label in the language of the
        labels), brand_description (brand: description), brand_picture_url (brand: address of its picture),
        kind_code (kind (category): code, which never changes), kind (kind (category): label in the language of the
        labels), kind_description (kind (category): description), packaging_code (type of packaging (EACH, PACK,
        CASE, PALLET ...): code, which never changes), packaging (type of packaging (EACH, PACK, CASE, PALLET ...):
        label in the language of the labels), packaging_description (type of packaging (EACH, PACK, CASE, PALLET
        ...): description), gpc_code (GS1 global product classification: brick code), gpc (GS1 global product
        classification: label), owner_id (owner: id), owner_uuid (owner: uuid), owner (owner: name), owner_type
        (owner: 1 manufacturer, 2 retailer), supplier_id (the supplier's own number), unit_type (unit type),
        target_market (market of this version), pictures_updated_at (pictures changed; no zone), has_pending_update
        (a change waits under lastRequest), texts_count (rows in texts), codes_count (rows in codes),
        quantities_count (rows in quantities), nutrients_count (rows in nutrients), scalars_count (rows in scalars),
        pictures_count (rows in pictures), exportables_count (rows in exportables), documents_count (rows in
        documents), videos_count (rows in videos), enriched_contents_count (rows in enriched_contents),
        hierarchies_count (rows in hierarchies), labels_count (rows in labels), tags_count (rows in tags),
        identifiers_count (rows in identifiers), entities_count (rows in entities).
        """
        return self._frame("products")

    @property
    def texts(self) -> pd.DataFrame:
        """One row per localized text item, at any depth.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), language_code (language and
        country as sent ("fra-FR")), language (short language code ("fr")), text (the text, verbatim).
        """
        return self._frame("texts")

    @property
    def codes(self) -> pd.DataFrame:
        """One row per code value, at any depth (brand, kind and packaging are in products).

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), code (the code, which never
        changes), label (its label in the language of the labels), description (its description).
        """
        return self._frame("codes")

    @property
    def quantities(self) -> pd.DataFrame:
        """One row per number with a unit, at any depth.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), value (the number), unit_code
        (unit: code ("GRM")), unit (unit: label ("g")).
        """
        return self._frame("quantities")

    @property
    def nutrients(self) -> pd.DataFrame:
        """One row per nutrient of one partition of a product.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), partition (what the figures refer
        to ("100 g")), basis_quantity (how much that is), basis_unit_code (and in which unit), nutrient_code
        (nutrient: GS1 code (ENER-, FAT ...)), nutrient (nutrient: label), quantity (how much of it), unit_code
        (unit: code (GRM, KJO, E14 = kcal)), unit (unit: label), daily_percentage (per cent of the daily intake).
        """
        return self._frame("nutrients")

    @property
    def scalars(self) -> pd.DataFrame:
        """One row per value of no other table.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), type (string, number or boolean),
        value (the value as text; numbers by value (1.0 is 1), not spelling).
        """
        return self._frame("scalars")

    @property
    def pictures(self) -> pd.DataFrame:
        """One row per picture.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), url (address of the media file),
        is_packshot (marked as a packshot), product_face (1 front, 2 left, 3 top, 7 back, 8 right, 9 bottom),
        type_of_information (type of information), content_type (content type), file_type (file type),
        angle_horizontal (horizontal angle, degrees), angle_vertical (vertical angle, degrees), sequence_number
        (sequence number), definition (size as text ("569 x 1200")), width (width of the original, pixels), height
        (height of the original, pixels), resolution (resolution as text), resolution_x (dots per inch across),
        resolution_y (dots per inch down), ratio (width to height as text), format (file format), crc32 (checksum of
        the original), gdsn_file_name (GS1 file name), origin_url (where it came from), effective_start (valid from;
        no zone), effective_end (valid until; no zone), created_at (created; local time without zone), updated_at
        (last changed; local time without zone).
        """
        return self._frame("pictures")

    @property
    def exportables(self) -> pd.DataFrame:
        """One row per rendition of a picture; its position begins with the picture's.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), url (address of the file), name
        (name of the rendition), width (pixels), height (pixels), file_size (bytes), quality (quality), picture_id
        (id of the picture), crc32 (checksum of the file), created_at (created; local time without zone), updated_at
        (last changed; local time without zone).
        """
        return self._frame("exportables")

    @property
    def documents(self) -> pd.DataFrame:
        """One row per document.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), url (address of the file),
        uniform_resource_identifier (address of the file), file_name (name of the file), name (name shown to
        people), content_type (content type), document_type_code (kind of document: code), document_type (kind of
        document: label), type_of_information (type of information), format (file format), file_size (size in
        bytes), effective_start (valid from, UTC), effective_end (valid until, UTC), created_at (created; local time
        without zone), updated_at (last changed; local time without zone).
        """
        return self._frame("documents")

    @property
    def videos(self) -> pd.DataFrame:
        """One row per video.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), url (address of the file),
        uniform_resource_identifier (address of the file), file_name (name of the file), name (name shown to
        people), content_type (content type), document_type_code (kind of document: code), document_type (kind of
        document: label), type_of_information (type of information), format (file format), file_size (size in
        bytes), effective_start (valid from, UTC), effective_end (valid until, UTC), created_at (created; local time
        without zone), updated_at (last changed; local time without zone).
        """
        return self._frame("videos")

    @property
    def enriched_contents(self) -> pd.DataFrame:
        """One row per enriched content.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), url (address of the file),
        uniform_resource_identifier (address of the file), file_name (name of the file), name (name shown to
        people), content_type (content type), document_type_code (kind of document: code), document_type (kind of
        document: label), type_of_information (type of information), format (file format), file_size (size in
        bytes), effective_start (valid from, UTC), effective_end (valid until, UTC), created_at (created; local time
        without zone), updated_at (last changed; local time without zone).
        """
        return self._frame("enriched_contents")

    @property
    def hierarchies(self) -> pd.DataFrame:
        """One row per node of a logistical hierarchy or sharing unit, repeated for every product that shows the tree.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), source (logisticalHierarchies or
        sharingUnits), level (0 at the root), root_gtin (GTIN of the outermost unit), parent_gtin (GTIN of the unit
        around this one; none at the root), node_gtin (GTIN of this unit), node_uuid (uuid of this unit), quantity
        (quantity in the parent; missing where the record has none), units_per_root (quantity in the root; missing
        where one on the way is), packaging_code (type of packaging: code), packaging (type of packaging: label),
        is_consumer_unit (sold to consumers), is_display_unit (display unit), is_despatch_unit (despatch unit),
        is_orderable_unit (can be ordered), is_invoice_unit (can be invoiced), active_listing (shared through a
        listing), product_key_id (key of the shared version).
        """
        return self._frame("hierarchies")

    @property
    def labels(self) -> pd.DataFrame:
        """One row per label or certificate of a product (isLabeledBy).

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), label_code (label: code), label
        (label: label), description (label: description), picture_url (label: address of its picture), value
        (value), start_date (from, as sent), end_date (until, as sent), attributed_at (attributed, as sent).
        """
        return self._frame("labels")

    @property
    def tags(self) -> pd.DataFrame:
        """One row per tag of a product (hasTags, isTaggedBy).

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), tag (name of the tag), created_at
        (added; local time without zone).
        """
        return self._frame("tags")

    @property
    def identifiers(self) -> pd.DataFrame:
        """One row per identifier of a product (isIdentifiedBy).

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), reference (the identifier).
        """
        return self._frame("identifiers")

    @property
    def entities(self) -> pd.DataFrame:
        """One row per language, unit or currency that a record lists (presentEntities).

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), attribute (wire path of the attribute, lists left out), position
        (list indexes along the path, outermost first (a key, not a sort order)), referential (languages,
        netcontents, currencies ...), entity_code (code, described in descriptors), short_code (short code).
        """
        return self._frame("entities")

    @property
    def descriptors(self) -> pd.DataFrame:
        """One row per language, unit or entity descriptor, each once.

        The frame is a copy: changing it does not change the catalogue.

        Columns: code (code ("fra-FR", "GRM")), short_code (short code ("fr")), description (description), label
        (label).
        """
        return self._frame("descriptors")

    @property
    def code_labels(self) -> pd.DataFrame:
        """One row per label of a code in a further language, where such were requested.

        The frame is a copy: changing it does not change the catalogue.

        Columns: attribute (wire path of the code value), code (the code), label_language (language that was
        requested), label (its label in that language), description (its description in that language).
        """
        return self._frame("code_labels")

    @property
    def presence(self) -> pd.DataFrame:
        """One row per product, with a column for the state of each attribute seen (`brand_state`).

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither).
        """
        return self._frame("presence")

    @property
    def raw(self) -> pd.DataFrame:
        """One row per product, with its JSON as received.

        The frame is a copy: changing it does not change the catalogue.

        Columns: product_id (key: id; uuid where there is no id, gtin where there is neither), gtin (the product's
        GTIN as sent: text, leading zeros kept), json (the record).
        """
        return self._frame("raw")

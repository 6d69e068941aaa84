"""The ledger: what was sent from this machine, one file for each upsert, durable before the first call.

=================  ===================================================================================================
`batch`            a call and its products: as it is planned, and what became of it
`change_digests`   what is remembered of a change without its values
`upsert_file`      one upsert: its plan, its calls, what became of them
`earlier_records`  the products as they were before, with which it can be taken back
`upserts`          all of them: which there are, which has a product, which may still be running
`calls`            the calls with some products, and which of them may still arrive
`writes`           what was sent of a product, call by call, for those who look back
=================  ===================================================================================================

The files decide. An index beside them only finds the upserts of a product; it is made anew where it is missing or
wrong.
"""

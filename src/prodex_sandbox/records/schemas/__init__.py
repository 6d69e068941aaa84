"""The contract's schemas as pydantic models, from which the OpenAPI document is made.

They describe replies, and do not make them: replies are written from the bytes in the store, and requests are read by
code whose messages have the words of the contract. Tests compare both with these models.
"""

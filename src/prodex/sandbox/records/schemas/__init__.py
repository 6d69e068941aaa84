"""The contract's schemas as pydantic models, from which the OpenAPI document is made.

They describe; they do not serve. Replies are written from the bytes that the store holds, and requests are read by
readers that say what is wrong in the contract's words. Tests hold both against these models.
"""

"""The HTTP interface of the sandbox: endpoints, their parameters and messages, and the OpenAPI document."""

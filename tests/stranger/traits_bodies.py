"""Bodies that are packed, framed or labelled oddly, and answers that are no envelope."""

from __future__ import annotations

import codecs
import gzip
import zlib
from typing import Any

from . import deliveries
from .switches import declare
from .wire import Reply


def _packed(encoding: str, pack: Any) -> Any:
    def act(reply: Any, _value: Any, _call: Any) -> Any:
        return reply.having(body=pack(reply.body)).headed(content_encoding=encoding) if reply.body else reply

    return act


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, 1, mtime=0)


def _recoded(charset: str, stated: str | None = "") -> Any:
    def act(reply: Any, _value: Any, _call: Any) -> Any:
        body = reply.body.decode("utf-8", "replace").encode(charset, "replace")
        label = charset if stated == "" else stated
        parameter = "" if label is None else f"; charset={label}"
        return reply.having(body=body).headed(content_type=f"application/json{parameter}")

    return act


def _bomb(reply: Any, megabytes: Any, _call: Any) -> Any:
    return reply.having(body=deliveries.bomb(megabytes)).headed(content_encoding="gzip, gzip")


def _body(body: bytes, **headers: str) -> Any:
    return lambda reply, _, __: reply.having(body=body).headed(**headers)


def _empty(_reply: Any, _value: Any, call: Any) -> Any:
    return Reply(204, b"", {}) if call.route == "products" else _reply


def _twice(reply: Any, _value: Any, _call: Any) -> Any:
    """Put a second, later totalResults into the JSON text; most readers take the last one."""
    return reply.having(body=reply.body.replace(b'{"totalResults"', b'{"totalResults": 0, "totalResults"', 1))


def _without(*names: str) -> Any:
    return lambda page, _, __: {name: value for name, value in page.items() if name not in names}


def _data(change: Any) -> Any:
    def act(page: Any, _value: Any, _call: Any) -> Any:
        return {**page, "data": change(page["data"])} if isinstance(page.get("data"), list) else page

    return act


def _shape(name: str, sentence: str, act: Any, stage: str = "reply", **more: Any) -> None:
    declare(name, "shape", sentence, stage, act, **more)


def _fault(name: str, sentence: str, act: Any, stage: str = "reply", **more: Any) -> None:
    declare(name, "fault", sentence, stage, act, **{"at": 3, **more})


HTML = b"<!DOCTYPE html><html><body>We will be back soon</body></html>"

# What HTTP allows, at every reply of every endpoint.
_shape("gzip", "Bodies are gzipped.", _packed("gzip", _gzip), "wire", route="any", family="packing")
_shape(
    "deflate",
    "Bodies are deflated (zlib).",
    _packed("deflate", zlib.compress),
    "wire",
    route="any",
    family="packing",
)
_shape(
    "deflate_raw",
    "Bodies are deflated without zlib's frame.",
    _packed("deflate", _raw_deflate),
    "wire",
    route="any",
    family="packing",
)
_shape(
    "double_gzip",
    "Bodies are gzipped twice.",
    _packed("gzip, gzip", lambda body: _gzip(_gzip(body))),
    "wire",
    route="any",
    family="packing",
)
_shape(
    "chunked",
    "Bodies are chunked.",
    lambda r, _, __: r.having(framing="chunked"),
    "wire",
    route="any",
    family="framing",
)
_shape(
    "chunked_with_trailer",
    "Chunks have extensions and a trailer.",
    lambda r, _, __: r.having(deliver=deliveries.decorated_chunks),
    "wire",
    route="any",
    family="framing",
)
_shape(
    "http_1_0",
    "HTTP/1.0 without a length.",
    lambda r, _, __: r.having(framing="close", version="HTTP/1.0"),
    "wire",
    route="any",
    family="framing",
)
_shape(
    "bom", "A BOM stands before JSON.", lambda r, _, __: r.having(body=codecs.BOM_UTF8 + r.body), route="any"
)
_shape(
    "content_type_text",
    "JSON is labelled text/html.",
    lambda r, _, __: r.headed(content_type="text/html"),
    route="any",
)
_shape(
    "content_type_absent",
    "There is no Content-Type.",
    lambda r, _, __: r.headed(content_type=None),
    route="any",
)
_shape(
    "many_headers",
    "A reply has 60 more headers.",
    lambda r, _, __: r.headed(**{f"x_{i}": "y" * 50 for i in range(60)}),
    route="any",
)
_shape(
    "white_space_around",
    "White space surrounds JSON.",
    lambda r, _, __: r.having(body=b"\r\n\t " * 50 + r.body + b"\n\n"),
    route="any",
)
_shape("latin_1", "Replies are in ISO-8859-1, and say so.", _recoded("iso-8859-1"), family="charset")
_shape("utf_16", "Replies are in UTF-16, and say so.", _recoded("utf-16"), family="charset")
_shape(
    "latin_1_unsaid",
    "Replies are in ISO-8859-1, and do not say so.",
    _recoded("iso-8859-1", None),
    family="charset",
)
_shape(
    "utf_8_called_latin_1",
    "Replies are in UTF-8, and say that they are in ISO-8859-1.",
    _recoded("utf-8", "iso-8859-1"),
    family="charset",
)
_shape("duplicate_keys", "totalResults comes twice in one object; the first is 0.", _twice)

# What HTTP or JSON does not allow, once.
_fault(
    "gzip_unannounced",
    "A gzipped body has no Content-Encoding.",
    lambda r, _, __: r.having(body=_gzip(r.body)),
    "wire",
)
_fault(
    "gzip_announced_only",
    "A plain body says it is gzipped.",
    lambda r, _, __: r.headed(content_encoding="gzip"),
    "wire",
)
_fault(
    "gzip_cut",
    "A gzipped body ends early.",
    lambda r, _, __: r.having(body=_gzip(r.body)[:-20]).headed(content_encoding="gzip"),
    "wire",
)
_fault(
    "gzip_bomb", "A few bytes unpack to many megabytes.", _bomb, "wire", parameter="megabytes", default=200
)
_fault(
    "encoding_unknown",
    "Content-Encoding is unknown.",
    lambda r, _, __: r.headed(content_encoding="zip9"),
    "wire",
)
_fault(
    "length_short",
    "Content-Length is half of the body.",
    lambda r, _, __: r.having(hangs_up=True).headed(content_length=str(len(r.body) // 2)),
    "wire",
)
_fault(
    "length_garbage",
    "Content-Length is not a number.",
    lambda r, _, __: r.having(hangs_up=True).headed(content_length="many"),
    "wire",
)
_fault("html_with_200", "A page of HTML comes with 200.", _body(HTML, content_type="text/html"))
_fault("html_as_json", "A page of HTML is labelled JSON.", _body(HTML))
_fault("empty_body", "An empty body comes with 200.", _body(b""))
_fault("no_content", "A read answers 204.", _empty, "request")
_fault("invalid_json", "The body is not JSON.", _body(b'{"totalResults": 3, "data": [}'))
_fault("json_cut", "JSON ends early, though all bytes came.", lambda r, _, __: r.having(body=r.body[:-9]))
_fault("json_list", "The answer is a list.", lambda page, _, __: page.get("data", []), "form")
_fault("json_text", "The answer is a text.", lambda *_: "products", "form")
_fault("json_null", "The answer is null.", lambda *_: None, "form")
_fault("json_number", "The answer is a number.", lambda *_: 7, "form")
_fault("json_empty_object", "The answer is {}.", lambda *_: {}, "form")
_fault(
    "error_with_200",
    "A 200 holds an error message.",
    lambda *_: {"error": "search failed", "status": 500},
    "form",
)
_fault(
    "invalid_utf8",
    "The body holds bytes that are not UTF-8.",
    lambda r, _, __: r.having(body=r.body.replace(b"namePublic", b"name\xff\xfe", 1)),
)
_fault("data_missing", "There is no data.", _without("data"), "form")
_fault("data_null", "data is null.", _data(lambda _: None), "form")
_shape(
    "empty_page_null",
    "An empty page has null in place of its list.",
    _data(lambda items: items or None),
    "form",
)
_fault(
    "data_null_for_ever",
    "From a read on, data is null.",
    lambda page, since, call: _data(lambda _: None)(page, None, call) if call.number >= since else page,
    "form",
    parameter="since",
    default=3,
    at=None,
)
_fault(
    "data_object",
    "data is an object.",
    _data(lambda items: {str(i): item for i, item in enumerate(items)}),
    "form",
)
_fault("data_text", "data is a text.", _data(lambda _: "none"), "form")
_fault("data_empty", "data is empty, though products are there.", _data(lambda _: []), "form")
_fault("cursor_missing", "A page of a scroll has no next_page.", _without("next_page"), "form")

"""watsonx.ai's chat, as a dialect of Chat Completions.

https://cloud.ibm.com/apidocs/watsonx-ai#text-chat (read 2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenuto_sim.errors import Failure
from tenuto_sim.openai_chat.dialects import Dialect, Members, renamed
from tenuto_sim.openai_chat.wire import in_dialect


def _of_watsonx(body: Members, said: Mapping[str, str]) -> Members:
    """Return a body with what the path says. The path says whether it streams, and a stream always
    reports the usage. One key names a tool, and another decides whether to call one."""
    chosen = ("tool_choice",) if isinstance(body.get("tool_choice"), str) else ()
    out = renamed(body, "model", "stream", "stream_options", *chosen)
    out["model"] = out.pop("model_id", said.get("model"))
    out.pop("project_id", None)
    if "tool_choice_option" in body:
        out.setdefault("tool_choice", body["tool_choice_option"])
    streams = {"stream": True, "stream_options": {"include_usage": True}}
    return out | (streams if said.get("streams") else {})


def _watsonx_error(document: Members, key: str) -> Members:
    error = document.get("error")
    if not isinstance(error, dict):
        return document
    code = error.get("code") or "invalid_input_argument"
    told = {"code": code, "message": error["message"], "more_info": _WATSONX_DOCS}
    return {"errors": [told], "trace": key}


_WATSONX_DOCS: Final = "https://cloud.ibm.com/apidocs/watsonx-ai#text-chat"
_WATSONX_FAILS: Final = Failure(
    200,
    {
        "errors": [{"code": "downstream_request_failed", "message": "The model failed."}],
        "trace": "0a6a011bb0f7050226d320447255f295",
        "status_code": 500,
    },
)

WATSONX: Final = in_dialect(
    Dialect(
        path=r"/ml/v1/(?:deployments/(?P<model>[^/]+)/)?text/chat(?P<streams>_stream)?",
        reasoning_key="reasoning_content",
        breaks_off=_WATSONX_FAILS,
        in_last_chunk=lambda _: {},
        located=_of_watsonx,
        said=lambda document: document | ({"model_id": m} if (m := document.get("model")) else {}),
        refused=_watsonx_error,
        event="message",
        done=False,
    )
)

"""What makes a client of a model: the SDKs, the frameworks, and the HTTP libraries, one row each.

The SDKs' rows come from the tables of `tenuto.clients`; tests compare them with the installed SDKs.
The frameworks' rows follow docs/frameworks.md, and tests judge every example of that page by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from tenuto.clients import cohere_client, mistral_client, sdk_client


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument through which a client of Tenuto's reaches what is made.

    Attributes:
        name: the keyword; with a dot, a key in a dictionary that is the argument.
        position: where it may stand without its keyword; None: nowhere.
        code: what to pass; "": no line is known.
        imports: what `code` needs beside `import tenuto`.
    """

    name: str
    code: str = ""
    position: int | None = None
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Maker:
    """One row: what makes clients, and how Tenuto gets beneath them.

    Attributes:
        package: the dotted name of the package, or the beginning of it.
        names: a pattern for the last part of the name of the class or function.
        title: the SDK or framework, as its heading in docs/frameworks.md; "": these names make no
            client, though a row below has a pattern that fits them.
        wraps: whether `tenuto.wrap()` takes it.
        turns: the attributes of a client that lead to its turns; empty: unknown, so any may.
        ways: alternatives, each with the arguments that it needs together, which take HTTP clients.
        takes: arguments that take a client, or an object of a model that holds one. If one of them
            is given, nothing is made here. A text is a name, of which the framework makes one.
        fact: what the program does once, and covers it, a key of `FACTS`.
        assigned: attributes to which the program assigns wrapped clients, with the code that makes
            each; `{it}` stands for what was made.
        models: a pattern for the names of the models for which `ways` hold.
        only: the first argument, as text, if others make no client of a model.
        defaults: whether it makes a client if `takes` is not given at all.
        then: the name under which this table has the methods of what it returns, if they take a
            model too; "": it has none.
    """

    package: str
    names: str
    title: str
    wraps: bool = False
    turns: frozenset[str] = frozenset()
    ways: tuple[tuple[Argument, ...], ...] = ()
    takes: tuple[Argument, ...] = ()
    fact: str = ""
    assigned: tuple[tuple[str, str], ...] = ()
    models: str = ".*"
    only: str = ""
    defaults: bool = True
    then: str = ""

    def makes(self, name: str) -> bool:
        """Return whether a dotted name is one of this row's.

        >>> row = Maker("openai", "OpenAI|AsyncOpenAI", "openai")
        >>> [row.makes(name) for name in ("openai.OpenAI", "openai._client.OpenAI", "o.OpenAI")]
        [True, True, False]
        """
        package, _, last = name.rpartition(".")
        inside = f"{package}.".startswith(f"{self.package}.")
        return inside and re.fullmatch(self.names, last) is not None


def _http(name: str, library: str = "", *, is_async: bool = False) -> Argument:
    maker = "async_http_client" if is_async else "http_client"
    return Argument(name, f"tenuto.{maker}({library})")


def _sdk(name: str, position: int | None = None, library: str = "") -> Argument:
    code = "tenuto.wrap(openai.AsyncOpenAI())"
    if library:
        code = f"openai.AsyncOpenAI(http_client=tenuto.async_http_client({library}))"
    return Argument(name, code, position, ("import openai",))


_HTTPX = '"httpx"'
_TRANSPORT = "tenuto.HTTPTransport()"
_OPENAI_TURNS = frozenset({"chat", "responses", "completions"})
_BEDROCK_TURNS = frozenset(
    {"converse", "converse_stream", "invoke_model", "invoke_model_with_response_stream"}
)
_TURNS_OF = {
    "openai": _OPENAI_TURNS,
    "anthropic": frozenset({"messages", "completions"}),
    "ollama": frozenset({"chat", "generate"}),
}
_ALIASES = {
    "openai": ("Client", "AsyncClient", "AzureOpenAI", "AsyncAzureOpenAI", "BedrockOpenAI",
               "AsyncBedrockOpenAI"),
    "anthropic": ("Client", "AsyncClient", "AnthropicAWS", "AsyncAnthropicAWS", "AnthropicFoundry",
                  "AsyncAnthropicFoundry", "AnthropicGoogleCloud", "AsyncAnthropicGoogleCloud"),
    "groq": ("Client", "AsyncClient"),
    "together": ("Client", "AsyncClient"),
    "cerebras.cloud.sdk": ("Client", "AsyncClient"),
}  # fmt: skip
"""Other names of the SDKs' clients, and the subclasses that the SDKs have of their own."""

_HTTP_ARGUMENTS = {"ollama": "transport"}
"""The argument for an HTTP client, where it is not called http_client."""


def _of_sdks() -> Iterator[Maker]:
    for package, names in sdk_client.CLASSES.items():
        known = sorted({*names, *_ALIASES.get(package, ())})
        argument = Argument(_HTTP_ARGUMENTS.get(package, "http_client"))
        turns = _TURNS_OF.get(package, _OPENAI_TURNS)
        yield Maker(package, "|".join(known), package, wraps=True, turns=turns, ways=((argument,),))
    yield Maker(
        "google.genai", "Client", "google-genai", wraps=True,
        turns=frozenset({"models", "chats", "interactions"}),
        ways=((Argument("http_options.httpx_client"),
               Argument("http_options.httpx_async_client")),),
    )  # fmt: skip
    yield Maker(
        "cohere", "|".join(sorted(cohere_client.CLASSES["cohere"])), "cohere", wraps=True,
        turns=frozenset({"chat", "chat_stream", "v2"}), ways=((Argument("httpx_client"),),),
    )  # fmt: skip
    yield Maker(
        "mistralai", "|".join(sorted(mistral_client.CLASSES["mistralai"])), "mistralai", wraps=True,
        turns=frozenset({"chat", "agents"}), ways=((Argument("client"), Argument("async_client")),),
    )  # fmt: skip
    for package in ("boto3", "aioboto3", "botocore", "aiobotocore"):
        yield Maker(
            package, "client|create_client", package, wraps=True, turns=_BEDROCK_TURNS,
            only="bedrock-runtime",
        )  # fmt: skip


_LITELLM = "litellm"
_BOTH = (_http("http_client"), _http("http_async_client", is_async=True))
_LLAMA = (_http("http_client", _HTTPX), _http("async_http_client", _HTTPX, is_async=True))
_NAMED = Argument("model", position=0)
_PAIR = (
    ("_client", "tenuto.wrap({it}._get_sync_client())"),
    ("_async_client", "tenuto.wrap({it}._get_async_client())"),
)

_PYDANTIC_AI = (
    "OpenAIChatModel({name!r}, provider=OpenAIProvider(http_client=tenuto.async_http_client()))"
)
_OF_PYDANTIC_AI = ("from pydantic_ai.models.openai import OpenAIChatModel",
    "from pydantic_ai.providers.openai import OpenAIProvider")  # fmt: skip

_FRAMEWORKS: Final = (
    Maker("langchain_openai", r"(Azure)?(Chat)?OpenAI", "LangChain", ways=(_BOTH,)),
    Maker("langchain_groq", "ChatGroq", "LangChain", ways=(_BOTH,)),
    Maker("langchain", "init_chat_model", "LangChain", ways=(_BOTH,),
          models=r"(azure_)?openai:.*|groq:.*|[^:]*"),
    Maker("langchain", "create_agent", "LangChain", takes=(
        Argument("model", "ChatOpenAI(model={name!r}, http_client=tenuto.http_client(), "
                 "http_async_client=tenuto.async_http_client())", 0,
                 ("from langchain_openai import ChatOpenAI",)),), defaults=False),
    Maker("langgraph", "create_react_agent", "LangChain", takes=(
        Argument("model", "ChatOpenAI(model={name!r}, http_client=tenuto.http_client(), "
                 "http_async_client=tenuto.async_http_client())", 0,
                 ("from langchain_openai import ChatOpenAI",)),), defaults=False),
    Maker("deepagents", "create_deep_agent|async_create_deep_agent", "LangChain", takes=(_NAMED,)),
    Maker("langchain_litellm", "Chat.*", "LangChain", fact=_LITELLM),
    Maker("pydantic_ai", "Agent", "pydantic-ai", defaults=False, then="pydantic_ai.Agent()",
          takes=(Argument("model", _PYDANTIC_AI, 0, _OF_PYDANTIC_AI),)),
    Maker("pydantic_ai.Agent()", "run(_sync|_stream.*)?|iter|override", "pydantic-ai",
          takes=(Argument("model", _PYDANTIC_AI, None, _OF_PYDANTIC_AI),), defaults=False),
    Maker("pydantic_ai", "(Test|Function|Fallback|Instrumented|Wrapper|Concurrency.*)Model", ""),
    Maker("pydantic_ai.models", r".+Model", "pydantic-ai", takes=(
        Argument("provider", "OpenAIProvider(http_client=tenuto.async_http_client())", None,
                 ("from pydantic_ai.providers.openai import OpenAIProvider",)),)),
    Maker("pydantic_ai.providers", r".+Provider", "pydantic-ai",
          ways=((_http("http_client", is_async=True),),),
          takes=tuple(map(Argument, ("openai_client", "anthropic_client", "groq_client", "client",
                                     "mistral_client", "cohere_client", "bedrock_client")))),
    Maker("agents", "OpenAIChatCompletionsModel|OpenAIResponsesModel", "openai-agents",
          takes=(_sdk("openai_client", 1),)),
    Maker("agents", "OpenAIProvider", "openai-agents", takes=(_sdk("openai_client"),),
          fact="agents"),
    Maker("agents", "Agent", "openai-agents", takes=(Argument("model"),), fact="agents"),
    Maker("agents", "LitellmModel", "openai-agents", fact=_LITELLM),
    Maker("strands.models.openai", "OpenAIModel", "Strands",
          takes=(_sdk("client", None, _HTTPX),)),
    Maker("strands.models.litellm", "LiteLLMModel", "Strands", fact=_LITELLM),
    Maker("strands", "Agent", "Strands", takes=(_NAMED,)),
    Maker("agno.models.openai", "OpenAIChat|OpenAIResponses|OpenAILike", "agno",
          ways=((_http("http_client", _HTTPX),),)),
    Maker("agno.models.litellm", ".+", "agno", fact=_LITELLM),
    Maker("agno", "Agent|Team", "agno", takes=(Argument("model"),), defaults=False),
    Maker("litellm.integrations", ".*", ""),
    Maker("litellm", r"a?(text_)?completion|a?responses|Router|batch_completion.*", "LiteLLM",
          fact=_LITELLM, takes=(Argument("client"),)),
    Maker("litellm.anthropic", "a?create", "LiteLLM", fact=_LITELLM),
    Maker("llama_index.llms.openai", "(OpenAI|OpenAIResponses)", "LlamaIndex", ways=(_LLAMA,)),
    Maker("llama_index.llms.azure_openai", "AzureOpenAI", "LlamaIndex", ways=(_LLAMA,)),
    Maker("llama_index.llms.openai_like", "OpenAILike", "LlamaIndex", ways=(_LLAMA,)),
    Maker("llama_index.llms.anthropic", "Anthropic", "LlamaIndex", assigned=(
        ("_client", "tenuto.wrap({it}._client)"), ("_aclient", "tenuto.wrap({it}._aclient)"))),
    Maker("llama_index.llms.litellm", "LiteLLM", "LlamaIndex", fact=_LITELLM),
    Maker("crewai", "LLM", "CrewAI", assigned=_PAIR, fact="crewai"),
    Maker("crewai", "Agent", "CrewAI", takes=(Argument("llm"),)),
    Maker("haystack", r"(Azure)?OpenAI(Chat|Responses)?(Chat)?Generator", "Haystack",
          ways=((Argument("http_client_kwargs.transport", _TRANSPORT),),)),
    Maker("autogen_ext.models", "(Azure)?OpenAIChatCompletionClient", "AutoGen",
          ways=((_http("http_client", is_async=True),),)),
    Maker("agent_framework", "OpenAI.*Client", "Microsoft Agent Framework",
          takes=(_sdk("async_client"),)),
    Maker("semantic_kernel.connectors.ai.open_ai", "(OpenAI|Azure)(Chat|Text)Completion",
          "Semantic Kernel", takes=(_sdk("async_client"),)),
    Maker("google.adk", "LiteLlm", "Google ADK", fact=_LITELLM),
    Maker("google.adk", "Gemini", "Google ADK", takes=(
        Argument("client", "tenuto.wrap(genai.Client())", None, ("from google import genai",)),)),
    Maker("google.adk", "Agent|LlmAgent", "Google ADK", takes=(
        Argument("model", "Gemini(model={name!r}, client=tenuto.wrap(genai.Client()))", None,
                 ("from google import genai", "from google.adk.models import Gemini")),),
          defaults=False),
    Maker("smolagents", "OpenAI(Server)?Model|AzureOpenAI(Server)?Model", "smolagents",
          ways=((_http("client_kwargs.http_client"),),)),
    Maker("smolagents", "LiteLLM.*Model", "smolagents", fact=_LITELLM),
    Maker("instructor", "from_provider", "instructor"),
    Maker("dspy", "LM", "DSPy", fact="dspy"),
    Maker("llm", "get_(async_)?model", "llm", fact="llm"),
    Maker("huggingface_hub", "InferenceClient", "huggingface_hub", fact="huggingface_hub",
          turns=frozenset({"chat", "chat_completion", "text_generation"})),
    Maker("huggingface_hub", "AsyncInferenceClient", "huggingface_hub",
          fact="huggingface_hub.async",
          turns=frozenset({"chat", "chat_completion", "text_generation"})),
    # The module's own client, which the functions of the module use.
    Maker("openai.chat", "create|parse|stream", "openai", fact="openai"),
    Maker("openai.responses", "create|parse|stream", "openai", fact="openai"),
    Maker("openai.completions", "create", "openai", fact="openai"),
    Maker("ollama", "chat|generate", "ollama"),
    # Below: Tenuto has no line for these.
    Maker("langchain_ollama", "(Chat|Ollama).*", "LangChain"),
    Maker("langchain_anthropic", "(Chat)?Anthropic.*", "LangChain"),
    Maker("langchain_aws", "(Chat)?Bedrock.*", "LangChain"),
    Maker("langchain_google_genai", "Chat.*|GoogleGenerativeAI", "LangChain"),
    Maker("langchain_google_vertexai", "Chat.*|VertexAI", "LangChain"),
    Maker("langchain_mistralai", "Chat.*", "LangChain"),
    Maker("langchain_cohere", "Chat.*", "LangChain"),
    Maker("langchain_huggingface", "Chat.*|HuggingFaceEndpoint", "LangChain"),
    Maker("langchain_deepseek", "Chat.*", "LangChain"),
    Maker("langchain_xai", "Chat.*", "LangChain"),
    Maker("langchain_community.chat_models", "Chat.*", "LangChain"),
    Maker("langchain_community.llms", "[A-Z].*", "LangChain"),
    Maker("llama_index.llms", "[A-Z].*", "LlamaIndex"),
    Maker("strands.models", ".+Model", "Strands"),
    Maker("agno.models", "[A-Z].*", "agno"),
    Maker("autogen_ext.models", ".+ChatCompletionClient", "AutoGen"),
    Maker("agent_framework", ".+ChatClient", "Microsoft Agent Framework"),
    Maker("semantic_kernel.connectors.ai", ".+(Chat|Text)Completion", "Semantic Kernel"),
    Maker("haystack_integrations.components.generators", ".+Generator", "Haystack"),
    Maker("haystack", r".+Generator", "Haystack"),
    Maker("smolagents", "(InferenceClient|HfApi|AmazonBedrock).*Model", "smolagents"),
    Maker("cohere", r"(Bedrock|Sagemaker|Oci)Client(V2)?", "cohere"),
    Maker("xai_sdk", "(Async)?Client", "xai_sdk"),
    Maker("google.generativeai", "GenerativeModel", "google-generativeai"),
    Maker("vertexai", "GenerativeModel", "vertexai"),
    Maker("dashscope", "call", "dashscope"),
)  # fmt: skip

FACTS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    _LITELLM: ("tenuto.litellm.install()", ("import tenuto.litellm",)),
    "agents": (
        "set_default_openai_client(tenuto.wrap(AsyncOpenAI()))",
        ("import tenuto", "from agents import set_default_openai_client",
         "from openai import AsyncOpenAI"),
    ),
    "openai": ("openai.http_client = tenuto.http_client()", ("import openai", "import tenuto")),
    "dspy": ("tenuto.litellm.install()", ("import tenuto.litellm",)),
}  # fmt: skip
"""Statements that cover what the rows of this fact make, once in a program, and their imports."""

HTTP: Final = (
    Maker("httpx", "Client|AsyncClient", "httpx"),
    Maker("httpx2", "Client|AsyncClient", "httpx2"),
    Maker("requests", "Session|session", "requests"),
    Maker("aiohttp", "ClientSession", "aiohttp"),
    Maker("urllib3", "PoolManager", "urllib3"),
    Maker("urllib.request", "Request", "urllib"),
)
"""Clients of HTTP, which are clients of a model only if a URL says so."""

HTTP_CALLS: Final = (
    Maker("httpx", "post|stream|request", "httpx"),
    Maker("httpx2", "post|stream|request", "httpx2"),
    Maker("requests", "post|request", "requests"),
    Maker("aiohttp", "request", "aiohttp"),
    Maker("urllib3", "request", "urllib3"),
    Maker("urllib.request", "urlopen", "urllib"),
)

UNKNOWN_MAKER: Final = Maker("", "", "unknown")
"""The row of a client that the source does not show."""


@cache
def makers() -> tuple[Maker, ...]:
    """Return all rows of clients of models, the more specific ones first."""
    return (*_of_sdks(), *_FRAMEWORKS)


@cache
def maker_of(name: str) -> Maker | None:
    """Return the row of a dotted name, or None.

    >>> maker_of("llama_index.llms.openai.OpenAI").title, maker_of("openai.OpenAI").title
    ('LlamaIndex', 'openai')
    >>> maker_of("collections.OrderedDict") is None
    True
    """
    found = next((row for row in makers() if row.makes(name)), None)
    return found if found is not None and found.title else None


@cache
def http_of(name: str) -> Maker | None:
    """Return the row of an HTTP client by its dotted name, or None."""
    return next((row for row in HTTP if row.makes(name)), None)


@cache
def http_call_of(name: str) -> Maker | None:
    """Return the row of a function that sends a request by its dotted name, or None."""
    return next((row for row in HTTP_CALLS if row.makes(name)), None)

"""What drivers share whose framework takes the async client of OpenAI's SDK."""

import openai
from framework_judge import Given


class SdkDriver:
    """Make the client. Its own retries are off, so that only the framework and Tenuto retry."""

    wire = "openai-chat"
    library = "httpx2"
    ways = ("async",)

    def __init__(self, given: Given) -> None:
        self.client = openai.AsyncOpenAI(
            base_url=given.base_url, api_key="key", http_client=given.http, max_retries=0
        )
        self.stream = given.stream

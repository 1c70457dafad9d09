"""pydantic-ai with one of its models. The name of the plan selects it."""

import base64

from harness import *
from pydantic_ai import Agent, BinaryContent, ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


def agent(model, **more):
    if PLAN["client"] == "pydantic-ai-anthropic":
        chosen = AnthropicModel(model, provider=AnthropicProvider(base_url=URL, api_key=KEY))
    else:
        provider = OpenAIProvider(base_url=f"{URL}/v1", api_key=KEY)
        kind = OpenAIChatModel if PLAN["client"] == "pydantic-ai-chat" else OpenAIResponsesModel
        chosen = kind(model, provider=provider)
    settings = {"max_tokens": MAX_TOKENS}
    return Agent(chosen, instructions=SYSTEM, model_settings=settings, **more)


async def plain(model, prompt):
    return {"text": (await agent(model).run(prompt)).output}


async def stream(model, prompt):
    async with agent(model).run_stream(prompt) as result:
        pieces = [piece async for piece in result.stream_text(delta=True, debounce_by=None)]
    return {"text": "".join(pieces), "pieces": len(pieces)}


async def tools(model, prompt):
    return {"text": (await agent(model, tools=FUNCTIONS).run(prompt)).output}


async def second(model, prompt):
    first = await agent(model).run(prompt)
    again = await agent(model).run("And again?", message_history=first.all_messages())
    return {"text": again.output}


async def structured(model, prompt):
    return {"object": (await agent(model, output_type=Person).run(prompt)).output.model_dump()}


async def image(model, prompt):
    picture = BinaryContent(data=base64.b64decode(IMAGE), media_type="image/png")
    return {"text": (await agent(model).run([prompt, picture])).output}


def tokens(usage):
    return {
        "input": usage.input_tokens,
        "cached": usage.cache_read_tokens,
        "output": usage.output_tokens,
    }


def used(result):
    usage = result.usage
    return tokens(usage() if callable(usage) else usage)


async def usage(model, prompt):
    async with agent(model).run_stream(prompt) as streamed:
        await streamed.get_output()
    return {"plain": used(await agent(model).run(prompt)), "stream": used(streamed)}


async def abort(model, prompt):
    async with agent(model).run_stream(prompt) as result:
        async for piece in result.stream_text(delta=True, debounce_by=None):
            return {"text": piece}


async def error(model, prompt):
    async def streamed():
        async with agent(model).run_stream(prompt) as result:
            await result.get_output()

    return {
        "refused": await refused_async(lambda: agent(model).run(prompt), ModelHTTPError),
        "streamed": await refused_async(streamed, ModelHTTPError),
        "unknown": await refused_async(lambda: agent(UNKNOWN).run(prompt), ModelHTTPError),
    }


run(globals())

"""openai-agents with one of OpenAI's dialects. The name of the plan selects it."""

import openai
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from harness import *

set_tracing_disabled(True)
client = openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY)
kind = OpenAIChatCompletionsModel if PLAN["client"] == "openai-agents-chat" else OpenAIResponsesModel


def agent(model, **more):
    return Agent(
        name="agent",
        instructions=SYSTEM,
        model=kind(model, openai_client=client),
        model_settings=ModelSettings(max_tokens=MAX_TOKENS, include_usage=True),
        **more,
    )


async def plain(model, prompt):
    return {"text": (await Runner.run(agent(model), prompt)).final_output}


async def stream(model, prompt):
    result = Runner.run_streamed(agent(model), prompt)
    pieces = [
        event.data.delta
        async for event in result.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    assert result.final_output == "".join(pieces)
    return {"text": "".join(pieces), "pieces": len(pieces)}


async def tools(model, prompt):
    functions = [function_tool(function) for function in FUNCTIONS]
    result = await Runner.run(agent(model, tools=functions), prompt)
    return {"text": result.final_output}


async def second(model, prompt):
    first = await Runner.run(agent(model), prompt)
    history = [*first.to_input_list(), {"role": "user", "content": "And again?"}]
    return {"text": (await Runner.run(agent(model), history)).final_output}


async def structured(model, prompt):
    result = await Runner.run(agent(model, output_type=Person), prompt)
    return {"object": result.final_output.model_dump()}


async def image(model, prompt):
    content = [
        {"type": "input_text", "text": prompt},
        {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "auto"},
    ]
    result = await Runner.run(agent(model), [{"role": "user", "content": content}])
    return {"text": result.final_output}


def tokens(result):
    usage = result.context_wrapper.usage
    return {
        "input": usage.input_tokens,
        "cached": usage.input_tokens_details.cached_tokens,
        "output": usage.output_tokens,
    }


async def usage(model, prompt):
    streamed = Runner.run_streamed(agent(model), prompt)
    async for _ in streamed.stream_events():
        pass
    return {"plain": tokens(await Runner.run(agent(model), prompt)), "stream": tokens(streamed)}


async def abort(model, prompt):
    result = Runner.run_streamed(agent(model), prompt)
    text = None
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            text = text or event.data.delta
            result.cancel()
    return {"text": text}


async def error(model, prompt):
    async def streamed():
        async for _ in Runner.run_streamed(agent(model), prompt).stream_events():
            pass

    return {
        "refused": await refused_async(
            lambda: Runner.run(agent(model), prompt), openai.BadRequestError
        ),
        "streamed": await refused_async(streamed, openai.BadRequestError),
        "unknown": await refused_async(
            lambda: Runner.run(agent(UNKNOWN), prompt), openai.NotFoundError
        ),
    }


run(globals())

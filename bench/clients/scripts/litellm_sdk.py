"""The SDK of LiteLLM with one of the dialects. The name of the plan selects it."""

import litellm
from harness import *

is_anthropic = PLAN["client"] == "litellm-anthropic"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": parameters_of(name)}}
    for name in ARGUMENTS
]


def ask(model, history, **more):
    address = {"model": f"anthropic/{model}", "api_base": URL}
    if not is_anthropic:
        address = {"model": f"openai/{model}", "api_base": f"{URL}/v1"}
    return litellm.completion(
        messages=history, api_key=KEY, max_tokens=MAX_TOKENS, **address, **more
    )


def plain(model, prompt):
    return {"text": ask(model, messages(prompt)).choices[0].message.content}


def stream(model, prompt):
    pieces = [
        chunk.choices[0].delta.content
        for chunk in ask(model, messages(prompt), stream=True)
        if chunk.choices and chunk.choices[0].delta.content
    ]
    return {"text": "".join(pieces), "pieces": len(pieces)}


def tools(model, prompt):
    history = messages(prompt)
    for _ in range(6):
        message = ask(model, history, tools=TOOLS).choices[0].message
        if not message.tool_calls:
            return {"text": message.content}
        history.append(message)
        for made in message.tool_calls:
            output = call(made.function.name, made.function.arguments)
            history.append({"role": "tool", "tool_call_id": made.id, "content": output})


def second(model, prompt):
    first = ask(model, messages(prompt)).choices[0].message
    history = [*messages(prompt), first, {"role": "user", "content": "And again?"}]
    return {"text": ask(model, history).choices[0].message.content}


def structured(model, prompt):
    answer = ask(model, messages(prompt), response_format=Person)
    return {"object": json.loads(answer.choices[0].message.content)}


def image(model, prompt):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    answer = ask(model, messages([{"type": "text", "text": prompt}, picture]))
    return {"text": answer.choices[0].message.content}


def tokens(usage):
    return {
        "input": usage.prompt_tokens,
        "cached": usage.prompt_tokens_details.cached_tokens,
        "output": usage.completion_tokens,
    }


def usage(model, prompt):
    options = {"stream": True, "stream_options": {"include_usage": True}}
    chunks = list(ask(model, messages(prompt), **options))
    found = [chunk.usage for chunk in chunks if getattr(chunk, "usage", None)]
    return {"plain": tokens(ask(model, messages(prompt)).usage), "stream": tokens(found[-1])}


async def abort(model, prompt):
    address = {"model": f"anthropic/{model}", "api_base": URL}
    if not is_anthropic:
        address = {"model": f"openai/{model}", "api_base": f"{URL}/v1"}
    chunks = await litellm.acompletion(
        messages=messages(prompt), api_key=KEY, stream=True, max_tokens=MAX_TOKENS, **address
    )
    async for chunk in chunks:
        if chunk.choices[0].delta.content:
            await chunks.aclose()
            return {"text": chunk.choices[0].delta.content}


def error(model, prompt):
    bad, missing = litellm.BadRequestError, litellm.NotFoundError
    return {
        "refused": refused(lambda: ask(model, messages(prompt)), bad),
        "streamed": refused(lambda: list(ask(model, messages(prompt), stream=True)), bad),
        "unknown": refused(lambda: ask(UNKNOWN, messages(prompt)), missing),
    }


run(globals())

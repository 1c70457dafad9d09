import openai
from harness import *

client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY)
TOOLS = [
    {"type": "function", "function": {"name": name, "strict": True, "parameters": parameters_of(name)}}
    for name in ARGUMENTS
]


def ask(model, content, **more):
    return client.chat.completions.create(
        model=model, messages=messages(content), max_completion_tokens=MAX_TOKENS, **more
    )


def plain(model, prompt):
    return {"text": ask(model, prompt).choices[0].message.content}


def stream(model, prompt):
    pieces = [
        chunk.choices[0].delta.content
        for chunk in ask(model, prompt, stream=True)
        if chunk.choices and chunk.choices[0].delta.content
    ]
    return {"text": "".join(pieces), "pieces": len(pieces)}


def tools(model, prompt):
    history = messages(prompt)
    for _ in range(6):
        answer = client.chat.completions.create(model=model, messages=history, tools=TOOLS)
        message = answer.choices[0].message
        if not message.tool_calls:
            return {"text": message.content}
        assert answer.choices[0].finish_reason == "tool_calls"
        history.append(message)
        for made in message.tool_calls:
            output = call(made.function.name, made.function.arguments)
            history.append({"role": "tool", "tool_call_id": made.id, "content": output})


def second(model, prompt):
    first = ask(model, prompt).choices[0].message
    history = [*messages(prompt), first, {"role": "user", "content": "And again?"}]
    answer = client.chat.completions.create(model=model, messages=history)
    return {"text": answer.choices[0].message.content}


def structured(model, prompt):
    answer = client.chat.completions.parse(
        model=model, messages=messages(prompt), response_format=Person
    )
    return {"object": answer.choices[0].message.parsed.model_dump()}


def image(model, prompt):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    answer = ask(model, [{"type": "text", "text": prompt}, picture])
    return {"text": answer.choices[0].message.content}


def tokens(usage):
    return {
        "input": usage.prompt_tokens,
        "cached": usage.prompt_tokens_details.cached_tokens,
        "output": usage.completion_tokens,
    }


def usage(model, prompt):
    chunks = ask(model, prompt, stream=True, stream_options={"include_usage": True})
    return {
        "plain": tokens(ask(model, prompt).usage),
        "stream": tokens([chunk.usage for chunk in chunks if chunk.usage][-1]),
    }


def abort(model, prompt):
    with ask(model, prompt, stream=True) as chunks:
        for chunk in chunks:
            if chunk.choices and chunk.choices[0].delta.content:
                return {"text": chunk.choices[0].delta.content}


def error(model, prompt):
    return {
        "refused": refused(lambda: ask(model, prompt), openai.BadRequestError),
        "streamed": refused(lambda: ask(model, prompt, stream=True), openai.BadRequestError),
        "unknown": refused(lambda: ask(UNKNOWN, prompt), openai.NotFoundError),
    }


run(globals())

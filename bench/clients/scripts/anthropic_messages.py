import anthropic
from harness import *

client = anthropic.Anthropic(base_url=URL, api_key=KEY)
TOOLS = [{"name": name, "input_schema": parameters_of(name)} for name in ARGUMENTS]


def options(model, content):
    return {
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": SYSTEM,
        "messages": [{"role": "user", "content": content}],
    }


def ask(model, content, **more):
    return client.messages.create(**options(model, content), **more)


def plain(model, prompt):
    return {"text": ask(model, prompt).content[0].text}


def stream(model, prompt):
    with client.messages.stream(**options(model, prompt)) as events:
        pieces = list(events.text_stream)
        assert events.get_final_text() == "".join(pieces)
    return {"text": "".join(pieces), "pieces": len(pieces)}


def tools(model, prompt):
    request = options(model, prompt)
    for _ in range(6):
        answer = client.messages.create(**request, tools=TOOLS)
        if answer.stop_reason != "tool_use":
            return {"text": answer.content[0].text}
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": call(block.name, block.input)}
            for block in answer.content
            if block.type == "tool_use"
        ]
        request["messages"] += [
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": results},
        ]


def second(model, prompt):
    request = options(model, prompt)
    first = client.messages.create(**request)
    request["messages"] += [
        {"role": first.role, "content": first.content},
        {"role": "user", "content": "And again?"},
    ]
    return {"text": client.messages.create(**request).content[0].text}


def structured(model, prompt):
    answer = client.messages.parse(**options(model, prompt), output_format=Person)
    return {"object": answer.parsed_output.model_dump()}


def image(model, prompt):
    source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
    content = [{"type": "image", "source": source}, {"type": "text", "text": prompt}]
    return {"text": ask(model, content).content[0].text}


def tokens(usage):
    cached = usage.cache_read_input_tokens
    return {"input": usage.input_tokens + cached, "cached": cached, "output": usage.output_tokens}


def usage(model, prompt):
    with client.messages.stream(**options(model, prompt)) as events:
        streamed = events.get_final_message().usage
    return {"plain": tokens(ask(model, prompt).usage), "stream": tokens(streamed)}


def abort(model, prompt):
    with client.messages.stream(**options(model, prompt)) as events:
        for piece in events.text_stream:
            return {"text": piece}


def error(model, prompt):
    return {
        "refused": refused(lambda: ask(model, prompt), anthropic.BadRequestError),
        "streamed": refused(lambda: ask(model, prompt, stream=True), anthropic.BadRequestError),
        "unknown": refused(lambda: ask(UNKNOWN, prompt), anthropic.NotFoundError),
    }


run(globals())

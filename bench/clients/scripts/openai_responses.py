import openai
from harness import *

client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY)
TOOLS = [
    {"type": "function", "name": name, "strict": True, "parameters": parameters_of(name)}
    for name in ARGUMENTS
]


def ask(model, given, **more):
    return client.responses.create(
        model=model, input=given, instructions=SYSTEM, max_output_tokens=MAX_TOKENS, **more
    )


def plain(model, prompt):
    return {"text": ask(model, prompt).output_text}


def stream(model, prompt):
    pieces, last = [], None
    for event in ask(model, prompt, stream=True):
        if event.type == "response.output_text.delta":
            pieces.append(event.delta)
        last = event
    assert last.type == "response.completed"
    assert last.response.output_text == "".join(pieces)
    return {"text": "".join(pieces), "pieces": len(pieces)}


def tools(model, prompt):
    history = [{"role": "user", "content": prompt}]
    for _ in range(6):
        answer = ask(model, history, tools=TOOLS)
        history += answer.output
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return {"text": answer.output_text}
        for made in calls:
            output = call(made.name, made.arguments)
            history.append(
                {"type": "function_call_output", "call_id": made.call_id, "output": output}
            )


def second(model, prompt):
    first = ask(model, prompt)
    return {"text": ask(model, "And again?", previous_response_id=first.id).output_text}


def structured(model, prompt):
    answer = client.responses.parse(
        model=model, input=prompt, instructions=SYSTEM, text_format=Person
    )
    return {"object": answer.output_parsed.model_dump()}


def image(model, prompt):
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "auto"}
    content = [{"type": "input_text", "text": prompt}, picture]
    return {"text": ask(model, [{"role": "user", "content": content}]).output_text}


def tokens(usage):
    return {
        "input": usage.input_tokens,
        "cached": usage.input_tokens_details.cached_tokens,
        "output": usage.output_tokens,
    }


def usage(model, prompt):
    *_, last = ask(model, prompt, stream=True)
    return {"plain": tokens(ask(model, prompt).usage), "stream": tokens(last.response.usage)}


def abort(model, prompt):
    with ask(model, prompt, stream=True) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                return {"text": event.delta}


def error(model, prompt):
    return {
        "refused": refused(lambda: ask(model, prompt), openai.BadRequestError),
        "streamed": refused(lambda: ask(model, prompt, stream=True), openai.BadRequestError),
        "unknown": refused(lambda: ask(UNKNOWN, prompt), openai.NotFoundError),
    }


run(globals())

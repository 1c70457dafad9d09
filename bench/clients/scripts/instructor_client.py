"""instructor with one of its clients. The name of the plan selects it."""

import anthropic
import instructor
import openai
from harness import *
from instructor.processing.multimodal import Image

is_anthropic = PLAN["client"] == "instructor-anthropic"
if is_anthropic:
    client = instructor.from_anthropic(anthropic.Anthropic(base_url=URL, api_key=KEY))
else:
    is_responses = PLAN["client"] == "instructor-responses"
    mode = instructor.Mode.RESPONSES_TOOLS if is_responses else instructor.Mode.TOOLS
    client = instructor.from_openai(openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY), mode=mode)


def ask(model, content, create=client.create, **more):
    return create(
        model=model,
        messages=messages(content),
        response_model=Person,
        max_tokens=MAX_TOKENS,
        max_retries=1,
        **more,
    )


def structured(model, prompt):
    return {"object": ask(model, prompt).model_dump()}


plain = structured


def stream(model, prompt):
    objects = [
        made.model_dump() for made in ask(model, prompt, client.create_partial, stream=True)
    ]
    return {"object": objects[-1], "pieces": len(objects)}


def image(model, prompt):
    picture = Image.from_base64(f"data:image/png;base64,{IMAGE}")
    return {"object": ask(model, [prompt, picture]).model_dump()}


def usage(model, prompt):
    _, raw = ask(model, prompt, client.create_with_completion)
    usage = raw.usage
    if is_anthropic:
        cached = usage.cache_read_input_tokens
        found = (usage.input_tokens + cached, cached, usage.output_tokens)
    elif hasattr(usage, "prompt_tokens"):
        cached = usage.prompt_tokens_details.cached_tokens
        found = (usage.prompt_tokens, cached, usage.completion_tokens)
    else:
        cached = usage.input_tokens_details.cached_tokens
        found = (usage.input_tokens, cached, usage.output_tokens)
    return {"plain": dict(zip(("input", "cached", "output"), found))}


def cause(error):
    """The error of the SDK inside instructor's own."""
    while error is not None and not hasattr(error, "status_code"):
        error = error.__cause__ or error.__context__
    return error


def failure(request):
    try:
        request()
    except Exception as error:
        return refusal(cause(error))
    raise AssertionError("the request was not refused")


def error(model, prompt):
    return {
        "refused": failure(lambda: ask(model, prompt)),
        "streamed": failure(
            lambda: list(ask(model, prompt, client.create_partial, stream=True))
        ),
        "unknown": failure(lambda: ask(UNKNOWN, prompt)),
    }


run(globals())

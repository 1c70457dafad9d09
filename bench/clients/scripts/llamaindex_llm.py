"""LlamaIndex with one of its models. The name of the plan selects it."""

import openai
from harness import *
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ImageBlock, TextBlock
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike, OpenAILikeResponses

FULL = {"context_window": 128000, "is_chat_model": True, "is_function_calling_model": True}


def llm(model):
    if PLAN["client"] == "llamaindex-responses":
        return OpenAILikeResponses(
            model=model, api_base=f"{URL}/v1", api_key=KEY, max_output_tokens=MAX_TOKENS, **FULL
        )
    return OpenAILike(
        model=model,
        api_base=f"{URL}/v1",
        api_key=KEY,
        max_tokens=MAX_TOKENS,
        should_use_structured_outputs=True,
        **FULL,
    )


def messages(content):
    return [ChatMessage(role="system", content=SYSTEM), ChatMessage(role="user", content=content)]


def plain(model, prompt):
    return {"text": llm(model).chat(messages(prompt)).message.content}


def stream(model, prompt):
    pieces = [part.delta for part in llm(model).stream_chat(messages(prompt)) if part.delta]
    return {"text": "".join(pieces), "pieces": len(pieces)}


async def tools(model, prompt):
    agent = FunctionAgent(
        tools=FUNCTIONS, llm=llm(model), system_prompt=SYSTEM, allow_parallel_tool_calls=True
    )
    answer = await agent.run(prompt)
    return {"text": answer.response.content}


def second(model, prompt):
    first = llm(model).chat(messages(prompt)).message
    history = [*messages(prompt), first, ChatMessage(role="user", content="And again?")]
    return {"text": llm(model).chat(history).message.content}


def structured(model, prompt):
    answer = llm(model).as_structured_llm(Person).chat(messages(prompt))
    return {"object": answer.raw.model_dump()}


def image(model, prompt):
    import base64

    picture = ImageBlock(image=base64.b64decode(IMAGE), image_mimetype="image/png")
    content = [TextBlock(text=prompt), picture]
    return {"text": llm(model).chat(messages(content)).message.content}


def tokens(raw):
    usage = raw["usage"] if isinstance(raw, dict) else raw.usage
    usage = usage if isinstance(usage, dict) else usage.model_dump()
    if "prompt_tokens" in usage:
        details = usage["prompt_tokens_details"]
        names = (usage["prompt_tokens"], details["cached_tokens"], usage["completion_tokens"])
    else:
        details = usage["input_tokens_details"]
        names = (usage["input_tokens"], details["cached_tokens"], usage["output_tokens"])
    return dict(zip(("input", "cached", "output"), names))


def usage(model, prompt):
    return {"plain": tokens(llm(model).chat(messages(prompt)).raw)}


def abort(model, prompt):
    parts = llm(model).stream_chat(messages(prompt))
    for part in parts:
        if part.delta:
            parts.close()
            return {"text": part.delta}


def error(model, prompt):
    bad, missing = openai.BadRequestError, openai.NotFoundError
    return {
        "refused": refused(lambda: llm(model).chat(messages(prompt)), bad),
        "streamed": refused(lambda: list(llm(model).stream_chat(messages(prompt))), bad),
        "unknown": refused(lambda: llm(UNKNOWN).chat(messages(prompt)), missing),
    }


run(globals())

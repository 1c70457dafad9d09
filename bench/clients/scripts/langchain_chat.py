"""LangChain with one of its chat models. The name of the plan selects it."""

import anthropic
import openai
from harness import *
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI


def chat_model(model):
    if PLAN["client"] == "langchain-python-anthropic":
        return ChatAnthropic(model=model, base_url=URL, api_key=KEY, max_tokens=MAX_TOKENS)
    return ChatOpenAI(
        model=model,
        base_url=f"{URL}/v1",
        api_key=KEY,
        max_tokens=MAX_TOKENS,
        stream_usage=True,
        use_responses_api=PLAN["client"] == "langchain-python-responses",
    )


def messages(content):
    return [("system", SYSTEM), ("user", content)]


def plain(model, prompt):
    return {"text": chat_model(model).invoke(messages(prompt)).text}


def stream(model, prompt):
    pieces = [chunk.text for chunk in chat_model(model).stream(messages(prompt)) if chunk.text]
    return {"text": "".join(pieces), "pieces": len(pieces)}


def tools(model, prompt):
    agent = create_agent(chat_model(model), tools=FUNCTIONS, system_prompt=SYSTEM)
    result = agent.invoke({"messages": [("user", prompt)]})
    return {"text": result["messages"][-1].text}


def second(model, prompt):
    first = chat_model(model).invoke(messages(prompt))
    history = [*messages(prompt), first, ("user", "And again?")]
    return {"text": chat_model(model).invoke(history).text}


def structured(model, prompt):
    answer = chat_model(model).with_structured_output(Person).invoke(messages(prompt))
    return {"object": answer.model_dump()}


def image(model, prompt):
    content = [
        {"type": "text", "text": prompt},
        {"type": "image", "base64": IMAGE, "mime_type": "image/png"},
    ]
    return {"text": chat_model(model).invoke(messages(content)).text}


def tokens(usage):
    return {
        "input": usage["input_tokens"],
        "cached": usage["input_token_details"]["cache_read"],
        "output": usage["output_tokens"],
    }


def usage(model, prompt):
    whole = None
    for chunk in chat_model(model).stream(messages(prompt)):
        whole = chunk if whole is None else whole + chunk
    answer = chat_model(model).invoke(messages(prompt))
    return {"plain": tokens(answer.usage_metadata), "stream": tokens(whole.usage_metadata)}


def abort(model, prompt):
    chunks = chat_model(model).stream(messages(prompt))
    for chunk in chunks:
        if chunk.text:
            chunks.close()
            return {"text": chunk.text}


def error(model, prompt):
    bad = (openai.BadRequestError, anthropic.BadRequestError)
    missing = (openai.NotFoundError, anthropic.NotFoundError)
    return {
        "refused": refused(lambda: chat_model(model).invoke(messages(prompt)), *bad),
        "streamed": refused(lambda: list(chat_model(model).stream(messages(prompt))), *bad),
        "unknown": refused(lambda: chat_model(UNKNOWN).invoke(messages(prompt)), *missing),
    }


run(globals())

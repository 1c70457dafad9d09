"""LangGraph: a graph of a model and its tools, streamed as LangGraph does it."""

import openai
from harness import *
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


def chat_model(model):
    return ChatOpenAI(
        model=model, base_url=f"{URL}/v1", api_key=KEY, max_tokens=MAX_TOKENS, stream_usage=True
    )


def graph(model, functions=()):
    bound = chat_model(model).bind_tools(functions) if functions else chat_model(model)

    def answer(state):
        return {"messages": [bound.invoke([("system", SYSTEM), *state["messages"]])]}

    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    if functions:
        builder.add_node("tools", ToolNode(list(functions)))
        builder.add_conditional_edges("answer", tools_condition)
        builder.add_edge("tools", "answer")
    return builder.compile()


def given(content):
    return {"messages": [("user", content)]}


def plain(model, prompt):
    return {"text": graph(model).invoke(given(prompt))["messages"][-1].text}


def stream(model, prompt):
    pieces = [
        chunk.text
        for chunk, _ in graph(model).stream(given(prompt), stream_mode="messages")
        if chunk.text
    ]
    return {"text": "".join(pieces), "pieces": len(pieces)}


def tools(model, prompt):
    return {"text": graph(model, FUNCTIONS).invoke(given(prompt))["messages"][-1].text}


def second(model, prompt):
    history = graph(model).invoke(given(prompt))["messages"]
    result = graph(model).invoke({"messages": [*history, ("user", "And again?")]})
    return {"text": result["messages"][-1].text}


def structured(model, prompt):
    bound = chat_model(model).with_structured_output(Person, method="json_schema")

    def answer(state):
        return {"person": bound.invoke([("system", SYSTEM), ("user", state["prompt"])])}

    builder = StateGraph(dict)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    return {"object": builder.compile().invoke({"prompt": prompt})["person"].model_dump()}


def image(model, prompt):
    content = [
        {"type": "text", "text": prompt},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}},
    ]
    return {"text": graph(model).invoke(given(content))["messages"][-1].text}


def tokens(usage):
    return {
        "input": usage["input_tokens"],
        "cached": usage["input_token_details"]["cache_read"],
        "output": usage["output_tokens"],
    }


def usage(model, prompt):
    found = None
    for chunk, _ in graph(model).stream(given(prompt), stream_mode="messages"):
        found = chunk.usage_metadata or found
    answer = graph(model).invoke(given(prompt))["messages"][-1]
    return {"plain": tokens(answer.usage_metadata), "stream": tokens(found)}


async def abort(model, prompt):
    chunks = graph(model).astream(given(prompt), stream_mode="messages")
    async for chunk, _ in chunks:
        if chunk.text:
            await chunks.aclose()
            return {"text": chunk.text}


def error(model, prompt):
    def streamed():
        return list(graph(model).stream(given(prompt), stream_mode="messages"))

    return {
        "refused": refused(lambda: graph(model).invoke(given(prompt)), openai.BadRequestError),
        "streamed": refused(streamed, openai.BadRequestError),
        "unknown": refused(lambda: graph(UNKNOWN).invoke(given(prompt)), openai.NotFoundError),
    }


run(globals())

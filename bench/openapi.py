"""Checks OpenAI's Python client against a gateway with the sandbox: python openapi.py URL KEY"""

import json
import sys

import openai

client = openai.OpenAI(base_url=f"{sys.argv[1]}/v1", api_key=sys.argv[2], max_retries=0)
MESSAGES = [{"role": "user", "content": "Why is the sky blue?"}]
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def chat():
    answer = client.chat.completions.create(model="auto", messages=MESSAGES)
    assert answer.choices[0].message.content
    assert answer.usage.total_tokens > 0
    assert answer.model_extra["joust"]["decision_id"] in answer.id


def stream():
    text, usage = "", None
    for chunk in client.chat.completions.create(
        model="auto", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    ):
        usage = chunk.usage or usage
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
    assert text and usage.completion_tokens > 0


def tools():
    answer = client.chat.completions.create(model="auto", messages=MESSAGES, tools=[TOOL])
    assert answer.choices[0].finish_reason in ("stop", "tool_calls")


def abort():
    answer = client.chat.completions.create(model="auto", messages=MESSAGES, stream=True)
    next(iter(answer))
    answer.close()
    chat()


def duel():
    answer = client.chat.completions.create(
        model="auto", messages=MESSAGES, extra_body={"joust": {"duel": True}}
    )
    assert len(answer.choices) == 2
    vote = client.post("/feedback", body={"id": answer.id, "winner": 0}, cast_to=object)
    assert vote["status"] == "logged", vote


def errors():
    for error, request in [
        (openai.NotFoundError, {"model": "nobody", "messages": MESSAGES}),
        (openai.BadRequestError, {"model": "auto", "messages": "hello"}),
    ]:
        try:
            client.chat.completions.create(**request)
        except error as refused:
            assert refused.body["hint"]
        else:
            raise AssertionError(f"{request} was not refused")


def models():
    assert "auto" in [model.id for model in client.models.list()]


def embeddings():
    made = client.embeddings.create(model=client.models.list().data[1].id, input="Why?")
    assert len(made.data[0].embedding) > 0


done = {}
for check in (chat, stream, tools, abort, duel, errors, models, embeddings):
    try:
        check()
        done[check.__name__] = "ok"
    except Exception as error:
        done[check.__name__] = f"{type(error).__name__}: {error}"
print(json.dumps(done))

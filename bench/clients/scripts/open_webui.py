"""Open WebUI in a process of its own, used through the API that its page calls."""

import os
import socket
import subprocess
import tempfile
import time

import httpx
from harness import *

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    PORT = free.getsockname()[1]
home = tempfile.mkdtemp(prefix="joust-webui-")
environment = {
    "PATH": os.environ["PATH"],
    "HOME": home,
    "DATA_DIR": home,
    "WEBUI_AUTH": "False",
    "WEBUI_SECRET_KEY": "secret-of-the-bench",
    "OFFLINE_MODE": "True",
    "ENABLE_OLLAMA_API": "False",
    "OPENAI_API_BASE_URL": f"{URL}/v1",
    "OPENAI_API_KEY": KEY,
    "ENABLE_TITLE_GENERATION": "False",
    "ENABLE_TAGS_GENERATION": "False",
    "ENABLE_FOLLOW_UP_GENERATION": "False",
}
program = os.path.join(os.path.dirname(sys.executable), "open-webui")
process = subprocess.Popen(
    [program, "serve", "--host", "127.0.0.1", "--port", str(PORT)],
    env=environment,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
client = httpx.Client(base_url=f"http://127.0.0.1:{PORT}", timeout=120)
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": parameters_of(name)}}
    for name in ARGUMENTS
]
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}


def is_ready():
    try:
        return client.get("/health").status_code == 200
    except httpx.TransportError:
        return False


while not is_ready():
    if process.poll() is not None:
        raise SystemExit("Open WebUI did not start")
    time.sleep(2)
token = client.post("/api/v1/auths/signin", json={"email": "", "password": ""}).json()["token"]
client.headers["Authorization"] = f"Bearer {token}"
models = [model["id"] for model in client.get("/api/models").json()["data"]]


class Refusal(Exception):
    """An error that Open WebUI answered."""

    def __init__(self, response):
        super().__init__(response.text)
        self.status_code = response.status_code


def body_of(model, history, **more):
    assert model in models or model == UNKNOWN, models
    return {"model": model, "messages": history, "max_tokens": MAX_TOKENS, "stream": False, **more}


def ask(model, history, **more):
    response = client.post("/api/chat/completions", json=body_of(model, history, **more))
    if response.status_code != 200:
        raise Refusal(response)
    return response.json()


def chunks_of(model, prompt, **more):
    body = body_of(model, messages(prompt), **{**more, "stream": True})
    with client.stream("POST", "/api/chat/completions", json=body) as response:
        if response.status_code != 200:
            response.read()
            raise Refusal(response)
        for line in response.iter_lines():
            if line.startswith("data: {"):
                yield json.loads(line[6:])


def pieces_of(chunks):
    for chunk in chunks:
        for choice in chunk.get("choices", []):
            if choice["delta"].get("content"):
                yield choice["delta"]["content"]


def plain(model, prompt):
    return {"text": ask(model, messages(prompt))["choices"][0]["message"]["content"]}


def stream(model, prompt):
    pieces = list(pieces_of(chunks_of(model, prompt)))
    return {"text": "".join(pieces), "pieces": len(pieces)}


def tools(model, prompt):
    history = messages(prompt)
    for _ in range(6):
        message = ask(model, history, tools=TOOLS)["choices"][0]["message"]
        if not message.get("tool_calls"):
            return {"text": message["content"]}
        history.append(message)
        for made in message["tool_calls"]:
            output = call(made["function"]["name"], made["function"]["arguments"])
            history.append({"role": "tool", "tool_call_id": made["id"], "content": output})


def structured(model, prompt):
    schema = {"name": "person", "strict": True, "schema": SCHEMA}
    wanted = {"type": "json_schema", "json_schema": schema}
    answer = ask(model, messages(prompt), response_format=wanted)
    return {"object": json.loads(answer["choices"][0]["message"]["content"])}


def image(model, prompt):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    answer = ask(model, messages([{"type": "text", "text": prompt}, picture]))
    return {"text": answer["choices"][0]["message"]["content"]}


def tokens(usage):
    return {
        "input": usage["prompt_tokens"],
        "cached": usage["prompt_tokens_details"]["cached_tokens"],
        "output": usage["completion_tokens"],
    }


def usage(model, prompt):
    chunks = chunks_of(model, prompt, stream_options={"include_usage": True})
    found = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    return {"plain": tokens(ask(model, messages(prompt))["usage"]), "stream": tokens(found[-1])}


def abort(model, prompt):
    chunks = chunks_of(model, prompt)
    for piece in pieces_of(chunks):
        chunks.close()
        return {"text": piece}


def error(model, prompt):
    return {
        "refused": refused(lambda: ask(model, messages(prompt)), Refusal),
        "streamed": refused(lambda: list(chunks_of(model, prompt)), Refusal),
    }


try:
    run(globals())
finally:
    process.terminate()
    process.wait()

"""Code that all Python clients share: the plan, the functions of the tool loop, and the output of results.

A script is called with the path of a plan and defines a function for each cell. It prints one line of
JSON for each entry of the plan: {"nonce", "value"} or {"nonce", "error"}.
"""

import asyncio
import inspect
import json
import sys
import traceback

from pydantic import BaseModel

with open(sys.argv[1]) as file:
    PLAN = json.load(file)
URL = PLAN["url"]
KEY = PLAN["key"]
SYSTEM = PLAN["system"]
MAX_TOKENS = PLAN["maxTokens"]
IMAGE = PLAN["image"]
UNKNOWN = PLAN["unknownModel"]
TIMEOUT = 120


def get_city(person: str) -> str:
    """Returns the city where a person lives."""
    return "Lima-" + person.split(" ")[-1]


def get_weather(city: str) -> str:
    """Returns the weather of a city."""
    return f"17 degrees in {city}"


def get_time(city: str) -> str:
    """Returns the time in a city."""
    return f"noon in {city}"


def to_fahrenheit(celsius: float) -> str:
    """Converts a temperature."""
    return f"{celsius * 9 / 5 + 32:g} F"


FUNCTIONS = [get_city, get_weather, get_time, to_fahrenheit]
ARGUMENTS = {"get_city": "person", "get_weather": "city", "get_time": "city", "to_fahrenheit": "celsius"}


class Person(BaseModel):
    """A person."""

    name: str
    age: int
    tags: list[str]


def messages(content):
    """A system prompt and a message of the user in the form of chat completions."""
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]


def parameters_of(name):
    argument = ARGUMENTS[name]
    kind = "number" if argument == "celsius" else "string"
    return {
        "type": "object",
        "properties": {argument: {"type": kind}},
        "required": [argument],
        "additionalProperties": False,
    }


def call(name, arguments):
    """Runs a function with its arguments, as text or as a dictionary."""
    arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    return {function.__name__: function for function in FUNCTIONS}[name](**arguments)


def refusal(error):
    """The status and the message of an error of a client."""
    status = getattr(error, "status_code", None) or getattr(error, "status", None)
    return {"status": status, "message": str(error), "type": type(error).__name__}


def refused(request, *errors):
    """Calls and returns the error, which must be of one of the types."""
    try:
        request()
    except errors as error:
        return refusal(error)
    raise AssertionError("the request was not refused")


async def refused_async(request, *errors):
    try:
        await request()
    except errors as error:
        return refusal(error)
    raise AssertionError("the request was not refused")


def run(cells):
    """Runs the cells of the plan. A cell is a function (model, prompt), which may be asynchronous."""

    async def all_cells():
        for entry in PLAN["cells"]:
            result = {"nonce": entry["nonce"]}
            try:
                value = cells[entry["cell"]](entry["model"], entry["prompt"])
                result["value"] = await value if inspect.isawaitable(value) else value
            except BaseException as error:
                result["error"] = f"{type(error).__name__}: {error}"[:2000]
                traceback.print_exc()
            print("RESULT " + json.dumps(result), flush=True)

    asyncio.run(all_cells())

"""LangChain sends requests to Joust, and Joust's client votes by an id that this program chooses.

    pip install langchain-openai
    npx joust serve &
    PYTHONPATH=clients/python python3 examples/langchain_vote.py http://localhost:8080
"""

import os
import sys
import uuid

from joust import Joust
from langchain_openai import ChatOpenAI

base_url = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
api_key = os.environ.get("JOUST_API_KEY", "none")
model = ChatOpenAI(model="auto", base_url=f"{base_url}/v1", api_key=api_key)
joust = Joust(base_url, api_key=api_key)

# 1. Vote by an id per answer.
id = str(uuid.uuid4())
answer = model.invoke("Why is the sky blue?", extra_headers={"x-joust-id": id})
print(answer.text)
print("vote:", joust.vote(id, rating=1))

# 2. Vote on the last answer of a session.
session = str(uuid.uuid4())
in_session = model.bind(extra_headers={"x-joust-session-id": session})
for piece in in_session.stream("Why is it red in the evening?"):
    print(piece.text, end="", flush=True)
print("\nvote:", joust.vote_on_last(session, rating=-1, comment="too long"))

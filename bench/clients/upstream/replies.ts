import { isDeepStrictEqual } from "node:util";
import {
  type Cell,
  finalText,
  IMAGE_SHA,
  imageText,
  markIn,
  objectOf,
  piecesOf,
  plainText,
  secondText,
  sha256,
} from "../cells.ts";
import { type Answer, type Conversation, Refused, type ToolCall } from "./conversation.ts";
import type { Loop } from "./loops.ts";

export interface Reply {
  readonly cell: Cell | undefined;
  readonly nonce: string;
  /** Undefined if the upstream refuses the request, as the cell "error" expects. */
  readonly answer: Answer | undefined;
}

/** The upstream's reply to a request. It depends on everything that the conversation must contain so far. */
export function replyTo(request: Conversation, loop: Loop): Reply {
  checkResults(request);
  const users = request.entries.flatMap((entry) => (entry.kind === "user" ? [entry.text] : []));
  const mark = markIn(users);
  if (!mark) return { cell: undefined, nonce: "", answer: say("Nothing to say.") };
  const { cell, nonce } = mark;
  const reply = (answer: Answer | undefined): Reply => ({ cell, nonce, answer });
  switch (cell) {
    case "usage":
      // Some clients ask for objects only.
      if (request.schema !== undefined || request.forcedTool !== undefined) {
        return reply(structured(request, nonce));
      }
      return reply(say(plainText(nonce)));
    case "plain":
      if (request.forcedTool !== undefined) return reply(structured(request, nonce));
      return reply(say(plainText(nonce)));
    case "stream":
      if (request.forcedTool !== undefined) return reply(structured(request, nonce));
      return reply({ pieces: piecesOf(nonce), calls: [] });
    case "abort":
      return reply({ pieces: piecesOf(nonce), calls: [], isEndless: true });
    case "error":
      return reply(undefined);
    case "image":
      return reply(aboutImage(request, nonce, loop));
    case "structured":
      return reply(structured(request, nonce));
    case "second":
      return reply(secondAnswer(request, nonce));
    case "tools":
      return reply(nextStep(request, nonce, loop));
  }
}

function say(text: string): Answer {
  return { pieces: [text], calls: [] };
}

/** Every result must follow its call, and every call must have one result before anything else is said. */
function checkResults({ entries }: Conversation): void {
  const open = new Set<string>();
  let previous = "";
  for (const entry of entries) {
    if (entry.kind === "call") {
      if (open.has(entry.id)) throw new Refused(`two calls have the id ${entry.id}`);
      // Results of parallel calls come after all of them, except in Responses.
      open.add(entry.id);
    } else if (entry.kind === "result") {
      if (!open.delete(entry.id)) throw new Refused(`the result ${entry.id} belongs to no call`);
    } else if (open.size > 0 && previous === "result") {
      throw new Refused(`the calls ${[...open]} have no result`);
    }
    previous = entry.kind;
  }
  if (open.size > 0) throw new Refused(`the calls ${[...open]} have no result at the end`);
}

function aboutImage(request: Conversation, nonce: string, loop: Loop): Answer {
  const { entries, tools } = request;
  const image = entries.findLast((entry) => entry.kind === "image");
  if (!image) {
    const opening = loop.openImage?.(tools, nonce);
    if (opening && !entries.some(({ kind }) => kind === "call")) {
      return { pieces: [], calls: [opening] };
    }
    throw new Refused("there is no image");
  }
  if (image.type !== "image/png") throw new Refused(`the image has the type ${image.type}`);
  if (sha256(image.bytes) !== IMAGE_SHA) throw new Refused("the bytes of the image have changed");
  return request.forcedTool === undefined ? say(imageText(nonce)) : structured(request, nonce);
}

/** An object of the schema: as text, or as the arguments of the tool that has the schema. */
function structured(request: Conversation, nonce: string): Answer {
  const { schema, forcedTool, tools, entries } = request;
  const object = objectOf(nonce);
  if (schema !== undefined && forcedTool === undefined) {
    if (!isOfPerson(schema)) throw new Refused(`the schema became ${JSON.stringify(schema)}`);
    return say(JSON.stringify(object));
  }
  // If the request also has other tools, the gateway writes the schema into the instructions of an
  // upstream that speaks Messages.
  const [instructed] = /\{"type":"object".*\}/.exec(request.system) ?? [];
  if (instructed !== undefined && isOfPerson(JSON.parse(instructed))) {
    return say(JSON.stringify(object));
  }
  const called = tools.find(({ parameters }) => isOfPerson(parameters));
  if (!called || (forcedTool !== undefined && forcedTool !== called.name)) {
    throw new Refused("the client's schema was not sent");
  }
  const isCalled = entries.some((entry) => entry.kind === "call" && entry.name === called.name);
  if (isCalled) return say("Done.");
  return { pieces: [], calls: [{ id: `call_${nonce}`, name: called.name, input: object }] };
}

/** Whether a schema is the one that every client sends. */
function isOfPerson(schema: unknown): boolean {
  const { properties } = schema as { properties?: Record<string, { type?: string }> };
  const types = Object.entries(properties ?? {}).map(([name, { type }]) => [name, type]);
  const expected = { name: "string", age: "integer", tags: "array" };
  return isDeepStrictEqual(Object.fromEntries(types), expected);
}

/** The answer to the first message or, if the conversation has the first answer, to the second. */
function secondAnswer({ entries }: Conversation, nonce: string): Answer {
  const first = plainText(nonce);
  const said = entries.flatMap((entry) => (entry.kind === "assistant" ? [entry.text] : []));
  const users = entries.filter(({ kind }) => kind === "user");
  if (said.length === 0 && users.length === 1) return say(first);
  if (!isDeepStrictEqual(said, [first])) {
    throw new Refused(`the first answer became ${JSON.stringify(said)}`);
  }
  if (users.length !== 2 || entries.at(-1)?.kind !== "user") {
    throw new Refused("the second message is missing");
  }
  return say(secondText(nonce));
}

/** The next call of the loop, whose arguments are results of earlier ones; after the last one, the answer. */
function nextStep(request: Conversation, nonce: string, loop: Loop): Answer {
  const { entries, tools } = request;
  const results = new Map(
    entries.flatMap((entry) => (entry.kind === "result" ? [[entry.id, entry.text] as const] : [])),
  );
  const calls = entries.flatMap((entry) => (entry.kind === "call" ? [entry] : []));
  loop.checkTools(tools);
  const made: ToolCall[] = [];
  const texts: string[] = [];
  for (let step = 0; step < loop.steps; step++) {
    const next = loop.step(step, texts, nonce, tools);
    if (calls.length === made.length) return { pieces: [], calls: next };
    for (const call of next) {
      const sent = calls[made.length];
      if (sent?.id !== call.id || sent.name !== call.name) {
        throw new Refused(`the call ${call.id} of ${call.name} became ${JSON.stringify(sent)}`);
      }
      if (!isDeepStrictEqual(sent.input, call.input)) {
        throw new Refused(`the arguments of ${call.id} became ${JSON.stringify(sent.input)}`);
      }
      made.push(call);
      texts.push(loop.resultIn(results.get(call.id)!, call));
    }
  }
  if (calls.length > made.length) throw new Refused("there are calls that the model did not make");
  return say(finalText(nonce, texts.at(-1)!));
}

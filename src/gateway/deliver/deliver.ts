import { StreamText, textOfWhole } from "../dialects/chat/answer-text.ts";
import { type Labels, labelWhole, StreamLabels } from "../dialects/chat/labels.ts";
import type { Asked, Recorder } from "../log/recorder.ts";
import type { Answering } from "../providers/attempt.ts";
import { endingInErrorEvent } from "../providers/upstream/error.ts";
import type { UpstreamAnswer } from "../providers/upstream/upstream.ts";
import { readUsage } from "../providers/upstream/usage.ts";
import type { Client } from "../wire/client.ts";
import { scanObject } from "../wire/json-scan.ts";
import { isRecord } from "../wire/json-value.ts";
import { dollars, passedHeaders } from "./response-headers.ts";

/** One answer on its way to the client. */
export interface Single {
  readonly asked: Asked;
  readonly answering: Answering;
  /** What the answer says of how it came about; undefined leaves it as it is. */
  readonly note: object | undefined;
  readonly stream: boolean;
  readonly wantsUsage: boolean;
  /** Gets the text of the answer, where somebody wants it. */
  readonly onText?: ((text: string) => void) | undefined;
}

/** Returns what it has cost. */
export async function deliver(recorder: Recorder, client: Client, single: Single): Promise<number> {
  return single.stream
    ? deliverStream(recorder, client, single)
    : deliverWhole(recorder, client, single);
}

async function deliverWhole(recorder: Recorder, client: Client, single: Single): Promise<number> {
  const { asked, answering, note } = single;
  const { model, answer, fallbacks } = answering;
  const body = await whole(answer);
  const end = await answer.end;
  const known = model.cost(end.usage);
  const labels = note && labelsOf(single, { ...note, cost: known });
  const headers = headersOf(single);
  if (known !== undefined) headers["x-joust-cost"] = dollars(known);
  client.send(200, headers, labels ? labelWhole(end.members ?? scanObject(body), labels) : body);
  single.onText?.(textOfWhole(body));
  return recorder.answered(asked, model, end, fallbacks);
}

async function deliverStream(recorder: Recorder, client: Client, single: Single): Promise<number> {
  const { asked, answering, note, wantsUsage } = single;
  const { model, answer, fallbacks } = answering;
  const labels = note && new StreamLabels(labelsOf(single, note));
  const text = single.onText && new StreamText();
  client.beginStream(headersOf(single));
  for await (const piece of endingInErrorEvent(answer.body)) {
    text?.push(piece);
    const labelled = labels ? labels.label(piece) : piece;
    const told = wantsUsage && note ? withCost(labelled, answering) : labelled;
    const room = client.write(told);
    if (room) await room;
  }
  client.end();
  if (text) single.onText!(text.text());
  return recorder.answered(asked, model, await answer.end, fallbacks);
}

export async function whole(answer: UpstreamAnswer): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

function labelsOf({ asked, answering }: Single, note: object): Labels {
  return {
    id: `chatcmpl-${asked.decision}`,
    model: answering.model.name,
    joust: JSON.stringify(note),
  };
}

function headersOf({ asked, answering, note }: Single): Record<string, string> {
  const headers = passedHeaders(answering.answer.headers);
  headers["x-joust-model"] = answering.model.name;
  if (note) headers["x-joust-decision-id"] = asked.decision;
  return headers;
}

/** The event with the usage, where the client has asked for it, tells the cost too. */
function withCost(piece: Uint8Array, { model }: Answering): Uint8Array {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  if (!bytes.includes(USAGE)) return bytes;
  const lines = bytes.toString().split("\n");
  return Buffer.from(lines.map((line) => costLine(line, model)).join("\n"));
}

const USAGE = Buffer.from('"usage":{');

function costLine(line: string, model: Answering["model"]): string {
  const open = /^data: *\{/.exec(line)?.[0].length;
  if (open === undefined || !line.includes('"usage":{')) return line;
  const event: unknown = JSON.parse(line.slice(open - 1));
  if (!isRecord(event) || "joust" in event) return line;
  const cost = model.cost(readUsage(event.usage));
  if (cost === undefined) return line;
  return `data: {"joust":${JSON.stringify({ cost })},${line.slice(open)}`;
}

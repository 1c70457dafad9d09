import { type Item, isOfModel, type Part } from "./items/item.ts";

/** The order of items after a translation to chat or messages, implemented independently of the codecs. */

/** Puts together what chat writes as one message of a conversation. */
export function regroup(items: readonly Item[]): Item[] {
  const groups: Item[][] = [];
  let open: Item[] | undefined;
  for (const item of items) {
    const has = (type: Item["type"]) => open?.some((other) => other.type === type);
    if (!isOfModel(item)) {
      groups.push([item]);
      open = undefined;
    } else if (open && (item.type === "function_call" || has("function_call") || !has("message"))) {
      open.push(item);
    } else {
      open = [item];
      groups.push(open);
    }
  }
  return groups.flatMap((group) => {
    const messages = group.filter((item) => item.type === "message");
    const [first] = messages;
    if (!first || messages.length === 1) return sorted(group);
    const content = messages.flatMap((message) => message.content);
    const extra = messages.find((message) => message.extra)?.extra;
    const others = group.filter((item) => item.type !== "message");
    return sorted([...others, { ...first, content, extra }]);
  });
}

/** Reasoning as one item, then messages, then calls, then everything else. */
export function sorted(items: readonly Item[]): Item[] {
  const of = <T extends Item["type"]>(type: T) =>
    items.filter((item): item is Extract<Item, { type: T }> => item.type === type);
  const [first, ...more] = of("reasoning");
  const texts = [first, ...more].flatMap((item) => item?.text ?? []);
  const reasoning: Item[] = first ? [{ ...first, text: [texts.join("\n\n")] }] : [];
  const others = items.filter(
    (item) => item.type === "function_call_output" || item.type === "hosted",
  );
  return [...reasoning, ...of("message"), ...of("function_call"), ...others];
}

export function joinMessages(items: readonly Item[]): Item[] {
  const messages = items.filter((item) => item.type === "message");
  const join = (type: "text" | "refusal") =>
    messages
      .map(({ content }) => content.map((part) => (part.type === type ? part.text : "")).join(""))
      .filter((text) => text !== "")
      .join("\n\n");
  const logprobs = messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "text" ? (part.logprobs ?? []) : [])),
  );
  const [text, refusal] = [join("text"), join("refusal")];
  const content: Part[] = [];
  if (text !== "")
    content.push({ type: "text", text, logprobs: logprobs.length > 0 ? logprobs : undefined });
  if (refusal !== "") content.push({ type: "refusal", text: refusal });
  const joined: Item[] =
    content.length > 0 ? [{ type: "message", role: "assistant", content }] : [];
  const at = items.findIndex((item) => item.type === "message");
  const others: Item[] = items.filter((item) => item.type !== "message");
  return at < 0 ? others : others.toSpliced(at, 0, ...joined);
}

export function mergeAdjacent(items: readonly Item[]): Item[] {
  const out: Item[] = [];
  for (const item of items) {
    const last = out.at(-1);
    if (item.type === "message" && last?.type === "message") {
      out[out.length - 1] = { ...last, content: [...last.content, ...item.content] };
    } else out.push(item);
  }
  return out;
}

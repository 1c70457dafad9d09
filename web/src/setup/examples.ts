/** How to point what people use at the gateway. */
export interface Example {
  readonly name: string;
  readonly lang: string;
  readonly about: string;
  readonly code: string;
  /** Runs where the gateway does not answer to everybody. */
  readonly isElsewhere?: boolean;
}

export interface Place {
  /** With /v1 at the end. */
  readonly base: string;
  readonly router: string;
  /** What stands for the API key; a gateway without keys takes anything. */
  readonly key: string | undefined;
}

export function examplesFor({ base, router, key }: Place): readonly Example[] {
  const shown = key ?? "none-needed";
  return [
    {
      name: "curl",
      lang: "bash",
      about: "An answer, a duel, a vote.",
      code: `curl ${base}/chat/completions \\
  -H 'content-type: application/json' \\${key === undefined ? "" : `\n  -H 'authorization: Bearer ${key}' \\`}
  -d '{"model": "${router}", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}'

# Two answers to choose from: add this to the request
#   "joust": {"duel": true}

# Which was better? 0, 1, "tie" or "both_bad"; or of one answer {"id": ..., "rating": 1}
curl ${base}/feedback \\
  -H 'content-type: application/json' \\${key === undefined ? "" : `\n  -H 'authorization: Bearer ${key}' \\`}
  -d '{"id": "ID OF THE ANSWER", "winner": 0}'`,
    },
    {
      name: "Python",
      lang: "python",
      about: "The official client: pip install openai",
      code: `from openai import OpenAI

client = OpenAI(base_url="${base}", api_key="${shown}")
answer = client.chat.completions.create(
    model="${router}",
    messages=[{"role": "user", "content": "Why is the sky blue?"}],
    extra_body={"joust": {"cost_quality_tradeoff": 3}},
)
print(answer.model, answer.choices[0].message.content)

# Was it good? From -1 to 1
client.post("/feedback", cast_to=object, body={"id": answer.id, "rating": 1})`,
    },
    {
      name: "TypeScript",
      lang: "typescript",
      about: "The official client: npm install openai",
      code: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}", apiKey: "${shown}" });
const answer = await client.chat.completions.create({
  model: "${router}",
  messages: [{ role: "user", content: "Why is the sky blue?" }],
});
console.log(answer.model, answer.choices[0]?.message.content);

// Was it good? From -1 to 1
await client.post("/feedback", { body: { id: answer.id, rating: 1 } });`,
    },
    {
      name: "Open WebUI",
      lang: "bash",
      isElsewhere: true,
      about:
        "Admin settings, Connections, OpenAI API: add the address and the key. Or when it is started:",
      code: `docker run -p 3000:8080 \\
  -e OPENAI_API_BASE_URL=${inContainer(base)} \\
  -e OPENAI_API_KEY=YOUR_KEY \\
  --add-host host.docker.internal:host-gateway \\
  ghcr.io/open-webui/open-webui:main
# Then choose the model "${router}"`,
    },
    {
      name: "LibreChat",
      lang: "yaml",
      isElsewhere: true,
      about:
        "In librechat.yaml. With Docker on Linux its service needs extra_hosts: [host.docker.internal:host-gateway]; without Docker take the base address above.",
      code: `version: 1.2.8
endpoints:
  custom:
    - name: Joust
      apiKey: YOUR_KEY
      baseURL: ${inContainer(base)}
      models:
        default: [${router}]
        fetch: true
      titleConvo: true
      titleModel: ${router}
      modelDisplayLabel: Joust`,
    },
    {
      name: "Cursor and others",
      lang: "",
      about:
        "Wherever a base address for OpenAI can be set: Continue, Cline, aider, Zed. Cursor has it too (Settings, Models, Override OpenAI Base URL), but calls it from its own servers: give it a public https address and a key.",
      code: `Base URL   ${base}
API key    ${shown}
Model      ${router}`,
    },
  ];
}

/** What a gateway needs that is not for this machine alone. */
export const FOR_OTHERS: Example = {
  name: "for others",
  lang: "bash",
  about:
    "It mostly runs in a container, which is another machine to the gateway. Without keys only this one is served, so make a key first, and let the gateway listen to others:",
  code: `npx joust keys add my-app   # prints YOUR_KEY, once
# In joust.yaml, before the gateway is started again:
#   server: {host: 0.0.0.0}`,
};

/** Containers call the machine that they run on by another name. */
function inContainer(base: string): string {
  return base.replace(/\/\/(localhost|127\.0\.0\.1)/, "//host.docker.internal");
}

/**
 * Requests as clients send them: written by SDKs, by hand, by agents. The parts that the gateway
 * changes are marked: ⟦the value of model⟧ and ⟪the joust member with its comma⟫. Every other
 * byte has to arrive unchanged.
 */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const SYSTEM = [
  "You are a careful assistant in an editor. The user's files are below; paths are relative.",
  'Rules: 1) never invent APIs; 2) quote \\"exactly\\"; 3) braces {like} [these] are literal.',
  "<environment_details>\\n# VSCode Visible Files\\nsrc/a.ts\\tsrc/b.ts\\n</environment_details>",
]
  .join("\\n")
  .repeat(200);

export const REQUEST_BODIES: Readonly<Record<string, string>> = {
  "the Python SDK": `{"messages":[{"role":"user","content":"Say hi"}],"model":⟦"auto"⟧}`,
  "curl, by hand": `{
    "model": ⟦"auto"⟧,
    "messages": [
      { "role": "developer", "content": "Be brief." },
      { "role": "user", "content": "Why is the sky blue?" }
    ]⟪,
    "joust": { "duel": "auto", "cost_quality_tradeoff": 5 }⟫
  }
`,
  "joust first": `{⟪"joust":{"session_id":"s-1"},⟫"model":⟦"auto"⟧,"messages":[]}`,
  "joust in the middle": `{"model":⟦"auto"⟧⟪ , "joust" : null⟫ , "messages" : [ ] }`,
  "extra_body of an SDK": `{"model":⟦"openrouter/auto"⟧,"messages":[],"n":2,"provider":{"order":["a"],"model":"keep"}⟪,"joust":{"allowed_models":["gpt-4o","claude"],"nested":{"joust":{"model":"x"}}}⟫}`,
  vision: `{"model":⟦"auto"⟧,"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,${PIXEL}","detail":"low"}},{"type":"image_url","image_url":{"url":"https:\\/\\/example.com\\/a.png?x=1&y=%7B%22model%22%3A1%7D"}}]}],"max_tokens":300}`,
  "audio and files": `{"model":⟦"auto"⟧,"modalities":["text","audio"],"audio":{"voice":"alloy","format":"wav"},"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},{"type":"file","file":{"file_id":"file-abc"}}]}]}`,
  tools: `{"model":⟦"auto"⟧,"messages":[{"role":"user","content":"Weather in Paris?"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\\"city\\":\\"Paris\\",\\"model\\":\\"icon\\"}"}}]},{"role":"tool","tool_call_id":"call_1","content":"{\\"temp\\": 21.50, \\"joust\\": true}"}],"tools":[{"type":"function","function":{"name":"get_weather","description":"Weather by {city}","strict":true,"parameters":{"type":"object","properties":{"city":{"type":"string"},"model":{"type":"string","enum":["icon","gfs"]}},"required":["city","model"],"additionalProperties":false}}}],"tool_choice":{"type":"function","function":{"name":"get_weather"}},"parallel_tool_calls":false}`,
  "old functions": `{"model":⟦"gpt-3.5-turbo-0613"⟧,"messages":[{"role":"user","content":"x"}],"functions":[{"name":"f","parameters":{}}],"function_call":"auto"}`,
  "JSON schema": `{"model":⟦"auto"⟧,"messages":[{"role":"user","content":"Extract."}],"response_format":{"type":"json_schema","json_schema":{"name":"car","strict":true,"schema":{"$defs":{"model":{"type":"string","pattern":"^[A-Z]{1,3}\\\\d+\\"?$"}},"type":"object","properties":{"model":{"$ref":"#/$defs/model"},"joust":{"const":"joust"},"price":{"type":"number","minimum":-0.0,"maximum":1E+6}},"required":["model"]}}},"temperature":0.0,"seed":9007199254740993}`,
  "a long system prompt": `{"model":⟦"auto"⟧,"messages":[{"role":"system","content":"${SYSTEM}"},{"role":"user","content":"go on"}],"stop":["\\n\\n","</s>"],"temperature":1}`,
  "odd Unicode": `{"model":⟦"auto"⟧,"messages":[{"role":"user","content":"naïve café \\u00e9\\u0065\\u0301 é 日本語 العربية 👩‍👩‍👧 \\ud83d\\ude00 \\ud800 lone \\u0000 nul \\u2028   \u2028 \u00a0 \ufeff \\/ \\b\\f"}],"user":"ключ \\"model\\":\\"nope\\""}`,
  "keys in escapes": `{"mod\\u0065l":⟦"auto"⟧,"messages":[],"\\u006d\\u006f\\u0064\\u0065\\u006c_x":"model"⟪,"j\\u006fust":{"a":[1,{"b":2}]}⟫,"Model":"kept","model ":"kept"}`,
  "a key twice": `{"model":⟦"a"⟧,"temperature":0.2,"temperature":0.7,"model":⟦"auto"⟧,"messages":[]}`,
  "numbers past a double": `{"model":⟦"auto"⟧,"messages":[],"seed":12345678901234567890123,"top_p":0.10000000000000000000001,"logit_bias":{"50256":-100,"1":1e-400,"2":-0,"3":1E5},"metadata":{"id":1e999}}`,
  "exotic blanks":
    `\r\n\t {\t"messages"\r\n:\t[\n]\r,\n\n"model" \t: \r\n⟦ "auto"⟧\t\r\n}\r\n \t`.replace(
      "⟦ ",
      " ⟦",
    ),
  "a null model": `{"messages":[],"model":⟦null⟧}`,
  "fields of other providers": `{"model":⟦"auto"⟧,"messages":[{"role":"user","content":"x","cache_control":{"type":"ephemeral"}}],"reasoning":{"effort":"high","max_tokens":2000},"reasoning_effort":"minimal","thinking":{"type":"enabled","budget_tokens":1024},"guided_json":{"model":{}},"min_p":0.05,"transforms":[],"verbosity":"low","service_tier":"flex","store":false,"prediction":{"type":"content","content":"model"},"web_search_options":{}}`,
  "a stream that asks for usage": `{"model":⟦"auto"⟧,"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false},"messages":[{"role":"user","content":"x"}]}`,
};

export const asSent = (marked: string): string => marked.replace(/[⟦⟧⟪⟫]/g, "");

export const asReceived = (marked: string, model: string): string =>
  marked.replace(/⟦[^⟧]*⟧/g, JSON.stringify(model)).replace(/⟪[^⟫]*⟫/g, "");

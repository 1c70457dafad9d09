import { expect, it } from "vitest";
import { responses } from "../dialects/responses/responses.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import { passPieces } from "./deliver.ts";

it("ends a stream of Responses with an error that has its id and the next numbers, also after a comment", async () => {
  const response = { id: "resp_1", model: "m", created_at: 5, output: [] };
  async function* breaking() {
    yield Buffer.from(`data: ${JSON.stringify({ type: "response.created", response })}\n\n`);
    yield Buffer.from('data: {"type":"response.in_progress","sequence_number":7}\n\n');
    yield Buffer.from(": still working\n\n");
    throw new UpstreamError("unreachable", "host", "closed the connection too early");
  }
  let text = "";
  await passPieces(breaking(), responses, (piece) => {
    text += Buffer.from(piece);
    return undefined;
  });
  expect(text.match(/"sequence_number":\d+/g)).toEqual([
    '"sequence_number":7',
    '"sequence_number":8',
    '"sequence_number":9',
  ]);
  const failed = JSON.parse(text.split("data: ").at(-1)!);
  expect(failed.response).toMatchObject({ id: "resp_1", model: "m", created_at: 5, output: [] });
});

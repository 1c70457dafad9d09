import { expect, it } from "vitest";
import { responses } from "../dialects/responses/responses.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import { passPieces } from "./deliver.ts";

it("numbers the error that ends a stream of Responses after the last event, also if a comment followed it", async () => {
  async function* breaking() {
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
});

import { expect, it } from "vitest";
import { withoutPasswords } from "./passwords.ts";

it.each([
  ["postgres://joust:hunter2@db/joust", "postgres://joust:***@db/joust"],
  ["--workers=postgres://joust:hunt@er2@db:1/joust", "--workers=postgres://joust:***@db:1/joust"],
  [
    "postgres://db/joust?user=a&password=hunter2&ssl=1",
    "postgres://db/joust?user=a&password=***&ssl=1",
  ],
  [
    "joust: postgres://a:b@c/d: has none; see user@example.org",
    "joust: postgres://a:***@c/d: has none; see user@example.org",
  ],
  [
    "http://localhost:8080/v1 and postgres://db:5432/joust",
    "http://localhost:8080/v1 and postgres://db:5432/joust",
  ],
])("hides the passwords in %s", (text, shown) => {
  expect(withoutPasswords(text)).toBe(shown);
});

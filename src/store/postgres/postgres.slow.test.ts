import { afterAll, describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { conforms } from "../store.case.ts";
import { openPostgres } from "./open.ts";
import { startPostgres } from "./server.fixture.ts";

const server = await startPostgres();

if (typeof server === "string") {
  it.skip(`PostgreSQL (${server})`, () => {});
} else {
  afterAll(() => server.stop());

  conforms("PostgreSQL", async () => {
    const url = await server.newDatabase();
    return () => openPostgres(url);
  });

  describe("openPostgres", () => {
    it("says what is wrong with the address", async () => {
      const url = new URL(await server.newDatabase());
      const wrong = (change: (url: URL) => void) => {
        const other = new URL(url);
        change(other);
        return openPostgres(other.href);
      };
      await expect(wrong((u) => (u.pathname = "/none"))).rejects.toThrow(
        errorText(/hint: create the database/),
      );
      await expect(wrong((u) => (u.password = "no"))).rejects.toThrow(
        errorText(/hint: check the user and password/),
      );
      await expect(wrong((u) => (u.port = "1"))).rejects.toThrow(
        errorText(
          /^127\.0\.0\.1:1\/test\d+: cannot be reached: .*ECONNREFUSED.*; hint: start the database/,
        ),
      );
    });
  });
}

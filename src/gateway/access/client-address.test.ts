import { expect, it } from "vitest";
import { clientAddress } from "./client-address.ts";

it.each([
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:2::1", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["1::4:5:6:7:8:9", "1:0:4:5::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::ffff:203.0.113.7", "::ffff:203.0.113.7"],
  ["203.0.113.7", "203.0.113.7"],
  ["somebody", "somebody"],
  [undefined, ""],
])("%s is counted as %s", (address, client) => {
  expect(clientAddress(address)).toBe(client);
});

import { isIPv6 } from "node:net";

/**
 * The address by which a client is counted. A client of IPv6 usually has a /64 of its own or more, so all addresses of a
 * /64 count as one client, like those behind one IPv4 address.
 */
export function clientAddress(address = ""): string {
  // An IPv4 address that is mapped to IPv6 has dots.
  if (!isIPv6(address) || address.includes(".")) return address;
  const [before = [], after = []] = address
    .replace(/%.*/, "")
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(8 - before.length - after.length).fill("0");
  const prefix = [...before, ...zeros, ...after].slice(0, 4);
  return `${prefix.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

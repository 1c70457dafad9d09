/**
 * The least that a gateway in Node must do: it passes every request to one upstream and pipes the
 * response back. Runs in its own process: node gateway-floor.ts PORT UPSTREAM_PORT
 */
import { Agent, createServer, request as send } from "node:http";

const [port, upstream] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

const server = createServer((request, response) => {
  const { method, url: path, headers } = request;
  const forwarded = send(
    { agent, host: "127.0.0.1", port: upstream, method, path, headers },
    (upstreamResponse) => {
      response.writeHead(upstreamResponse.statusCode!, upstreamResponse.headers);
      upstreamResponse.pipe(response);
    },
  );
  forwarded.on("error", () => response.destroy());
  request.pipe(forwarded);
});
server.keepAliveTimeout = 60_000;
server.listen(port, "127.0.0.1");

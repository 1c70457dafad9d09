/**
 * The least that a gateway in Node can do: every request to one host, its answer
 * back, piped. A process of its own: node gateway-floor.ts PORT UPSTREAM_PORT
 */
import { Agent, createServer, request as send } from "node:http";

const [port, upstream] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

const server = createServer((request, response) => {
  const { method, url: path, headers } = request;
  const onward = send(
    { agent, host: "127.0.0.1", port: upstream, method, path, headers },
    (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  request.pipe(onward);
});
server.keepAliveTimeout = 60_000;
server.listen(port, "127.0.0.1");

// Runs in a sandbox without a network, before the command. Forwards a loopback port of the sandbox to the socket of
// the proxy outside. Arguments: the socket, the port, then the command.
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [socket = "", port = "", program = "", ...words] = process.argv.slice(2);

const server = createServer((client) => {
  const outside = connect(socket);
  client.on("error", () => outside.destroy());
  outside.on("error", () => client.destroy());
  client.pipe(outside).pipe(client);
});

server.listen(Number(port), "127.0.0.1", () => {
  const command = spawn(program, words, { stdio: "inherit" });
  command.once("error", (error: NodeJS.ErrnoException) => {
    process.stderr.write(`${program}: ${error.message}\n`);
    process.exit(error.code === "ENOENT" ? 127 : 126);
  });
  command.once("exit", (code, signal) => {
    process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
  });
});

import { createServer } from "node:http";
import { Store } from "./store.mjs";

export function shortener(store = new Store()) {
  return createServer(async (request, response) => {
    if (request.method === "POST") {
      let url = "";
      for await (const chunk of request) url += chunk;
      try {
        response.writeHead(201).end(store.add(url));
      } catch (error) {
        response.writeHead(400).end(error.message);
      }
      return;
    }
    const url = store.find(request.url.slice(1));
    if (url === undefined) response.writeHead(404).end("no such code");
    else response.writeHead(302, { location: url }).end();
  });
}

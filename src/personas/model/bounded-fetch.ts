import { AsyncLocalStorage } from "node:async_hooks";
import { withStatusOfError } from "./provider-error.ts";

/** A longer body is no answer and would fill the memory. */
const maxBodyBytes = 32 * 1024 * 1024;

/** Called when bytes arrive: a package hides pings, and they are signs of life too. */
export const onBytes = new AsyncLocalStorage<() => void>();

/** `fetch`, for bodies of bounded length; a redirect elsewhere would carry the key along. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const alive = onBytes.getStore();
  const response = await fetch(input, { ...init, redirect: "error" });
  alive?.();
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  return withStatusOfError(new Response(counted(response.body, alive), { status, statusText, headers }));
};

/** Read by hand: a pipe through a transform takes ten kilobytes more, and thousands of calls wait at once. */
function counted(body: ReadableStream<Uint8Array>, alive: (() => void) | undefined): ReadableStream {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        alive?.();
        bytes += value.byteLength;
        if (bytes <= maxBodyBytes) return controller.enqueue(value);
        const error = new TypeError(`The answer is longer than ${maxBodyBytes} bytes.`);
        controller.error(error);
        await reader.cancel(error);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

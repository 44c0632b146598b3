import { AsyncLocalStorage } from "node:async_hooks";

/** A longer answer would fill the memory, and no model could read it. */
export const maxAnswerLength = 16 * 1024 * 1024;

/** The server did answer, so its call has happened. */
export class AnswerTooLong extends Error {
  constructor() {
    super("The server answered with more than 16 MiB, and nothing of it was read. Ask for less.");
  }
}

/** Called when the stream that should bring the answer has ended: the client waits for its time limit then. */
export const onStreamEnd = new AsyncLocalStorage<(error: Error) => void>();

/** The end of a stream is noticed before its last message is read. */
const readMs = 2_000;

/** `fetch` for answers of bounded length. */
export const watchedFetch: typeof fetch = async (input, init) => {
  const ended = onStreamEnd.getStore();
  const response = await fetch(input, init);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const isForEver = init?.method === "GET";
  const over = (): void => {
    setTimeout(() => ended?.(new Error("its answer broke off")), readMs).unref();
  };
  return new Response(watched(response.body, isForEver, over), { status, statusText, headers });
};

function watched(
  body: ReadableStream<Uint8Array>,
  isForEver: boolean,
  over: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let length = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            return over();
          }
          // Of a stream of notices, each line counts for itself.
          length = isForEver && value.includes(10) ? 0 : length + value.byteLength;
          if (length <= maxAnswerLength) return controller.enqueue(value);
          controller.error(new AnswerTooLong());
          await reader.cancel();
        } catch (error) {
          controller.error(error);
          over();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

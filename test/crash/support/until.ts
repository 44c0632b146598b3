/** Waits for a condition; the error names the condition that did not come true. */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  { withinMs = 60_000 } = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

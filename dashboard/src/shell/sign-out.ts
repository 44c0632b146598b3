import { ApiError } from "../api/api-error.ts";
import { client } from "../api/client.ts";
import { stream } from "../live/connection.ts";
import { Store } from "../live/store.ts";

/** Why the last sign-out failed; undefined if it did not. */
export const signOutError = new Store<unknown>(undefined);

/** Leaves the page, so that no session data stays on the screen. */
export async function signOut(): Promise<void> {
  signOutError.set(undefined);
  try {
    await client.signOut();
  } catch (error) {
    // The login had already ended.
    const isOver = error instanceof ApiError && error.status === 401;
    if (!isOver) return signOutError.set(error);
  }
  stream.stop();
  location.replace("/signed-out");
}

import { Store } from "./store.ts";

/** "implementation/backend_developer": whose words the stream carries. Only one persona's text is ever sent. */
export const followedText = new Store<string | undefined>(undefined);

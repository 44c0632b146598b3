import "./styles/index.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/api-error.ts";
import { sessionQuery } from "./api/queries.ts";
import { App, preloadFor } from "./app.tsx";
import { listenForKeys } from "./keys/shortcuts.ts";
import { watchVisibility } from "./live/connection.ts";
import { connectLiveData } from "./shell/live-data.ts";
import { watchHistory } from "./ui/restore-scroll.ts";
import { parseSessionAddress } from "./url/session-url.ts";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // A refused request would be refused again, but an unanswered one may succeed.
      retry: (failures, error) => !(error instanceof ApiError) && failures < 3,
      retryDelay: (failures) => Math.min(8000, 1000 * 2 ** failures),
      refetchOnWindowFocus: false,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

connectLiveData(queries);
watchVisibility();
watchHistory();
listenForKeys();

const page = document.getElementById("page");
if (page === null) throw new Error("index.html has no element with the id page");
const root = createRoot(page);
const draw = () =>
  root.render(
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>,
  );
// Requests the session while its page is still loading. The page itself shows any failure.
const address = parseSessionAddress(location.pathname);
if (address !== undefined) void queries.prefetchQuery(sessionQuery(address.idOrKey));
preloadFor(location.pathname).then(draw, draw);
// Safari has no requestIdleCallback. It loads the page on the first click.
globalThis.requestIdleCallback?.(() => void preloadFor("/s/").catch(() => undefined));

import { useStore } from "../live/store.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Menu } from "../ui/menu.tsx";
import { openPanel } from "./commands.ts";
import { setTheme, theme } from "./settings.ts";
import { signOut, signOutError } from "./sign-out.ts";

export function PageMenu() {
  const shown = useStore(theme);
  const other = shown === "dark" ? "light" : "dark";
  const items = [
    { name: `Use the ${other} theme`, run: () => setTheme(other) },
    { name: "Show all keys", run: () => openPanel.set("help") },
    { name: "Sign out", run: () => void signOut() },
  ];
  return <Menu label="Menu" bare items={items} />;
}

/** Shown only if there is something to say. */
export function SignOutStrip() {
  const error = useStore(signOutError);
  if (error === undefined) return null;
  return (
    <div className="strip">
      <ErrorNotice what="You are still signed in." error={error} onRetry={() => void signOut()} />
    </div>
  );
}

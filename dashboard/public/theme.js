// Before the first paint and outside the bundle: a page that turns dark after it was light hurts at night.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("maestro.theme");
  } catch {
    // Storage may be forbidden; the system's wish is good enough.
  }
  const dark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();

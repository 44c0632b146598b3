import { useStore } from "../live/use-store.ts";
import { theme } from "../shell/settings.ts";
import { shadesOf } from "./shades.ts";

/** Which shade is whose; beside the picture, and in its order. */
export function ChartKey({ names }: { readonly names: readonly string[] }) {
  const shown = useStore(theme);
  const shades = shadesOf(names.length, shown === "dark");
  return (
    <ul className="chart-key" aria-label="Shades of the chart">
      {names.map((name, index) => (
        <li key={name}>
          <svg width="10" height="10" aria-hidden="true">
            <rect width="10" height="10" fill={shades[index]} />
          </svg>
          <span className="outside">{name}</span>
        </li>
      ))}
    </ul>
  );
}

import { useStore } from "../live/store.ts";
import { theme } from "../shell/settings.ts";

/** The legend of the chart, in its order. */
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

/** Dark to light in the light theme, light to dark in the dark theme, so that neighbors differ. */
export function shadesOf(layers: number, dark: boolean): string[] {
  const [from, to] = dark ? [86, 30] : [24, 82];
  return Array.from({ length: layers }, (_, index) => {
    const share = layers === 1 ? 0.3 : index / (layers - 1);
    return `hsl(45 5% ${Math.round(from + (to - from) * share)}%)`;
  });
}

/** From dark to light on paper, from light to dark at night: neighbors differ enough to be told apart. */
export function shadesOf(layers: number, dark: boolean): string[] {
  const [from, to] = dark ? [86, 30] : [24, 82];
  return Array.from({ length: layers }, (_, index) => {
    const share = layers === 1 ? 0.3 : index / (layers - 1);
    return `hsl(45 5% ${Math.round(from + (to - from) * share)}%)`;
  });
}

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const;

export type Color = keyof typeof codes;
export type Paint = (color: Color, text: string) => string;

export function painter(color: boolean): Paint {
  if (!color) return (_, text) => text;
  return (name, text) => (text === "" ? "" : `\u001b[${codes[name][0]}m${text}\u001b[${codes[name][1]}m`);
}

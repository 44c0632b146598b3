import { settingKeys, settings } from "../src/config/settings.ts";

const [begin, end] = ["<!-- settings -->", "<!-- end of settings -->"];

/** The page with its table of the settings that need trust. */
export function withTrustTable(page) {
  const [before, rest] = page.split(begin);
  const [, after] = rest.split(end);
  const rows = settingKeys
    .filter((key) => settings[key].needsTrust !== null)
    .map((key) => `| \`${key}\` | ${settings[key].needsTrust} |`);
  return [before + begin, "| setting | because |", "|---|---|", ...rows, end + after].join("\n");
}

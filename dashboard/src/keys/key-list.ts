/** All shortcuts, for the help panel. */
export const keyList: readonly {
  readonly title: string;
  readonly keys: readonly (readonly [keys: string, does: string])[];
}[] = [
  {
    title: "Everywhere",
    keys: [
      ["Ctrl K", "search or run a command"],
      ["?", "this list"],
      ["g s", "sessions"],
      ["g u", "usage"],
      ["g h", "health"],
      ["n", "start a session…"],
    ],
  },
  {
    title: "Lists",
    keys: [
      ["/", "filter"],
      ["j", "next"],
      ["k", "previous"],
      ["Enter", "open"],
      ["Esc", "back, close"],
    ],
  },
  {
    title: "A session",
    keys: [
      ["1 to 7", "tabs"],
      ["e", "next failure"],
      ["l", "follow the live text"],
      ["t", "timeline as a table"],
      ["+ -", "zoom the timeline, as Ctrl and the wheel do"],
      ["0", "fit the timeline"],
      ["c", "copy the command"],
      ["r", "resume…"],
      ["f", "fork…"],
      ["p", "pause…"],
      ["a", "approve…"],
      ["x", "reject…"],
    ],
  },
];

import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** Changes a repository, with names that are easily shown wrong. A model works on the same notes. */
export default defineTeam("changing", {
  model: "simulated",
  phases: [
    phase("change", {
      review: true,
      personas: [
        persona("editor", {
          run: async ({ workspace }) => {
            await workspace.write("src/app/main.ts", "one\ntwo, changed\nthree\n");
            for (const path of [".gitignore", "-rf.txt", "routes/[id].ts", ".github/workflows/ci.yml"])
              await workspace.write(path, `content of ${path}\n`);
            await workspace.write("docs/שלום/קובץ (1).md", "shalom\n");
            await workspace.write(
              "web/app/(shop)/[slug]/a-rather-long-folder-name/of-a-deep-tree/page.tsx",
              "page\n",
            );
            await workspace.remove("old.txt");
            return { summary: "changed" };
          },
        }),
        persona("writer", {
          instructions: "Write about the change.",
          contract: { deliverables: [{ name: "page", files: ["notes.md"] }] },
        }),
      ],
    }),
  ],
});

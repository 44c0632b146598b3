/** The output of each example that is a program; hello.mts is a team file. */
export const endings: Readonly<Record<string, RegExp>> = {
  "one-persona.mts": /^completed: draft 2, gate passed\n$/,
  "parallel-design.mts": /^completed: one document from two parts and one risk\n[\s\S]*design\.md by editor/,
  "graph.mts": /testing: tester after requirements, backend, frontend \(session completed\)\n$/,
  "review-gate.mts":
    /parked for review: five services\nparked for review: one service\ncompleted: built one service\n$/,
  "start-in-the-middle.mts":
    /^completed: built from # Design\nrequirements: given, design: given, development: work\n$/,
  "fork.mts":
    /^first: api_analyst, backend, frontend, page_analyst\nplan: .*backend runs, frontend reused\nfork: backend\n$/,
};

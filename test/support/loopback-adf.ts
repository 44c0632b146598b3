/** The allowed children of each kind of node: enough of the Atlassian Document Format to find what Jira refuses. */
const children: Readonly<Record<string, readonly string[]>> = {
  doc: ["heading", "paragraph", "codeBlock", "orderedList", "bulletList", "rule"],
  heading: ["text", "hardBreak"],
  paragraph: ["text", "hardBreak"],
  codeBlock: ["text"],
  orderedList: ["listItem"],
  bulletList: ["listItem"],
  listItem: ["paragraph", "codeBlock", "orderedList", "bulletList"],
};

interface Node {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly version?: unknown;
  readonly content?: unknown;
  readonly attrs?: { readonly level?: unknown };
}

const notADocument = "Operation value must be an Atlassian Document (see the Atlassian Document Format)";
const tooLong = "The entered text is too long. It exceeds the allowed limit of 32,767 characters.";

/** Jira's error for this description; undefined when it is accepted. */
export function adfProblem(description: unknown): string | undefined {
  const document = description as Node | null;
  if (typeof document !== "object" || document?.type !== "doc" || document.version !== 1) return notADocument;
  const length = lengthOf(document);
  if (length === undefined) return "INVALID_INPUT";
  return length > 32_767 ? tooLong : undefined;
}

/** Length of all its text; undefined when a node is not allowed in its place. */
function lengthOf(node: Node): number | undefined {
  if (node.type === "text")
    return typeof node.text === "string" && node.text !== "" ? node.text.length : undefined;
  const allowed = children[String(node.type)];
  if (allowed === undefined || (node.type === "heading" && !Number.isInteger(node.attrs?.level)))
    return undefined;
  const content: unknown = node.content ?? [];
  if (!Array.isArray(content)) return undefined;
  if (content.length === 0 && /List|listItem/.test(String(node.type))) return undefined;
  let length = 0;
  for (const child of content as Node[]) {
    const own = allowed.includes(String(child.type)) ? lengthOf(child) : undefined;
    if (own === undefined) return undefined;
    length += own;
  }
  return length;
}

import { adfProblem } from "./loopback-adf.ts";

export const jiraAccount = {
  email: "maestro@example.com",
  apiToken: "jira-token-0123456789",
  projectKey: "OPS",
};

export function readFields(body: string): Record<string, unknown> | undefined {
  try {
    return (JSON.parse(body) as { fields?: Record<string, unknown> }).fields;
  } catch {
    return undefined;
  }
}

/** Jira's error for each field that it refuses. */
export function fieldProblems(fields: Record<string, unknown>): Record<string, string> {
  const { summary, labels } = fields;
  const errors: Record<string, string> = {};
  if ((fields.project as { key?: string } | undefined)?.key !== jiraAccount.projectKey)
    errors.project = "valid project is required";
  if ((fields.issuetype as { name?: string } | undefined)?.name !== "Bug")
    errors.issuetype = "Specify a valid issue type";
  if (typeof summary !== "string" || summary === "")
    errors.summary = "You must specify a summary of the issue.";
  else if (summary.includes("\n"))
    errors.summary = "The summary is invalid because it contains newline characters.";
  else if (summary.length > 255) errors.summary = "Summary can't exceed 255 characters.";
  const badLabel = Array.isArray(labels) ? labels.find((label) => /\s/.test(String(label))) : undefined;
  if (badLabel !== undefined)
    errors.labels = `The label '${String(badLabel)}' contains spaces which is invalid.`;
  const description = adfProblem(fields.description);
  if (description !== undefined) errors.description = description;
  return errors;
}

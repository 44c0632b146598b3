import type { Json } from "../../domain/json.ts";
import type { EditSavings } from "../model/ports.ts";

export type ToolArguments = Readonly<Record<string, Json>>;

/** Keeps a text and gives its hash. It lives as long as a record that names it. */
export type KeepText = (text: string) => Promise<string>;

/** The text that the model gets, and what an edit cost less than writing the file. */
export interface ToolDone {
  readonly output: string;
  /** The result of the team's own tool if it is not text. The SDK gets it instead. */
  readonly value?: Json;
  /** The hash of a text that is kept with the record, such as the whole output of a command. */
  readonly artifact?: string;
  readonly edit?: EditSavings;
}

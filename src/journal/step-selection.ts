/** Rows of steps by seq, both ends inclusive. */
export type SeqRange = readonly [from: number, to: number];

/** Names recorded steps of one attempt without holding them. The state has selections, and the step index has rows. */
export interface StepSelection {
  /** The seq of the attempt's first row. */
  readonly attempt: number;
  /** The last row that may be one of its steps; undefined while it runs. */
  readonly until: number | undefined;
  /** Steps that must run again, such as the one whose failure ended the attempt. */
  readonly except: readonly number[];
  /** Whether steps that ended in an outage are included. */
  readonly outages: boolean;
  /** After a divergence: the only earlier rows that still count. */
  readonly kept?: { readonly before: number; readonly ranges: readonly SeqRange[] };
  /** Limits the selection to these kinds. */
  readonly kinds?: readonly string[];
}

export const ownSteps = (attempt: number): StepSelection => ({
  attempt,
  until: undefined,
  except: [],
  outages: true,
});

/** For an attempt that continues: everything but outages and the step that ended the previous attempt. */
export function inheritSteps(
  selections: readonly StepSelection[],
  until: number,
  failedStep: number | undefined,
): StepSelection[] {
  return selections.map((selection) => ({
    ...selection,
    until: selection.until ?? until,
    outages: false,
    except: failedStep === undefined ? selection.except : [...selection.except, failedStep],
  }));
}

const paidKinds = ["step.model", "step.command"];

/**
 * For an attempt that starts over because its input changed: paid calls are reused. Function steps are reused only
 * if they depended on nothing but their input. Tools and checks run again.
 */
export function leaveSteps(
  selections: readonly StepSelection[],
  until: number,
  { functions }: { readonly functions: boolean },
): StepSelection[] {
  const kinds = functions ? [...paidKinds, "step.function"] : paidKinds;
  return inheritSteps(selections, until, undefined).map((selection) => ({ ...selection, kinds }));
}

/** After a divergence, earlier rows count only within the ranges. */
export function keepSteps(
  selections: readonly StepSelection[],
  before: number,
  ranges: readonly SeqRange[],
): StepSelection[] {
  return selections.map((selection) => ({ ...selection, kept: { before, ranges } }));
}

/** The ranges are sorted and do not overlap. */
export function isWithin(ranges: readonly SeqRange[], seq: number): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [from, to] = ranges[middle] as SeqRange;
    if (seq < from) high = middle - 1;
    else if (seq > to) low = middle + 1;
    else return true;
  }
  return false;
}

export interface SelectedRow {
  readonly seq: number;
  readonly attempt: number;
  readonly kind: string;
  readonly outage: boolean;
}

export function isSelected(selection: StepSelection, { seq, attempt, kind, outage }: SelectedRow): boolean {
  if (attempt !== selection.attempt || seq > (selection.until ?? Number.POSITIVE_INFINITY)) return false;
  if (outage && !selection.outages) return false;
  if (selection.except.includes(seq)) return false;
  if (selection.kinds !== undefined && !selection.kinds.includes(kind)) return false;
  const { kept } = selection;
  return kept === undefined || seq > kept.before || isWithin(kept.ranges, seq);
}

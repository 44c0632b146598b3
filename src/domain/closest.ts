/** The candidate that was probably meant: the only one that starts with the word, or the one with the fewest typos. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  if (wanted === "" || wanted.length > maxLength) return undefined;
  const known = [...candidates].filter((candidate) => candidate.length <= maxLength);
  const same = known.find((candidate) => candidate.toLowerCase() === wanted);
  if (same !== undefined) return same;
  const longer = known.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
  if (longer.length === 1) return longer[0];
  return fewestEdits(wanted, known);
}

export function didYouMean(word: string, candidates: Iterable<string>): string {
  const candidate = closest(word, candidates);
  return candidate === undefined ? "" : ` Did you mean "${candidate}"?`;
}

/** Comparing takes time in the product of both lengths, and the word is untrusted. */
const maxLength = 256;

function fewestEdits(wanted: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = editDistance(wanted, candidate.toLowerCase());
    // As many edits as letters means that the two have nothing in common.
    if (edits < fewest && edits < Math.max(wanted.length, candidate.length)) {
      best = candidate;
      fewest = edits;
    }
  }
  return best;
}

/** Damerau-Levenshtein: insert, delete, replace, or swap two neighbors. */
function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replace = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swaps = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swap = swaps ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replace, swap, at(last, column) + 1, at(current, column - 1) + 1));
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;

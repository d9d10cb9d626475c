// Suggestions for misspelt names.

/** The name with the smallest edit distance, or undefined where the distance is more than a third of the letters. */
export function nearest(given: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let min = Math.floor(given.length / 3) + 1;
  for (const name of names) {
    const distance = editsBetween(given, name);
    if (distance < min) [best, min] = [name, distance];
  }
  return best;
}

/** Levenshtein distance. */
function editsBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let at = 1; at <= b.length; at++) {
      const replaced = (above[at - 1] ?? 0) + (a[row - 1] === b[at - 1] ? 0 : 1);
      line.push(Math.min(replaced, (above[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1));
    }
    above = line;
  }
  return above[b.length] ?? 0;
}

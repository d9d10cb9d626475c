// A map that strangers fill has a bound: what was put in first goes first.

/** Who touches an entry deletes it and sets it again: then the oldest is the least recently used one. */
export function forgetOldest(entries: Map<string, unknown>, max: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= max) break;
    entries.delete(oldest);
  }
}

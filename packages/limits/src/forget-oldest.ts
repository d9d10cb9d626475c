// Bounds the size of a map or set whose keys come from other parties: the oldest entries are deleted first.

/** Callers delete and set an entry again on each use: the oldest entry is then the least recently used one. */
export function forgetOldest(entries: Map<string, unknown> | Set<string>, max: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= max) break;
    entries.delete(oldest);
  }
}

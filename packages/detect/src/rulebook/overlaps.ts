// Finds host patterns of two providers that match one host equally well, so that only alphabetical order would decide.
import type { Provider } from './catalog.ts';
import { patternsOf } from './patterns.ts';

interface GlobPattern {
  readonly provider: string;
  readonly path: string;
  readonly pattern: string;
  readonly labels: readonly string[];
}

/**
 * A host's most specific pattern wins: the one with more labels; with equal labels, read from the right, a plain label
 * before one with `*`, and the longer label with `*` before the shorter. The remaining conflicts are labels with `*` of
 * equal length that match one text.
 */
export function ambiguousPatterns(providers: readonly Provider[]): string[] {
  const groups = new Map<string, GlobPattern[]>();
  for (const { id: provider, rules } of providers) {
    for (const [i, group] of rules.entries()) {
      for (const { channel, key = '', pattern, target = pattern, path } of patternsOf(group)) {
        if (!target.includes('*') || channel === 'cookie') continue;
        const labels = target.split('.').reverse();
        const kind = `${channel} ${key} ${labels.map((label) => (label.includes('*') ? label.length : label)).join('.')}`;
        const entry = { provider, path: `rules.${i}.${path}`, pattern: target, labels };
        const known = groups.get(kind);
        if (known) known.push(entry);
        else groups.set(kind, [entry]);
      }
    }
  }
  return [...groups.values()].flatMap(clashesIn);
}

function clashesIn(group: readonly GlobPattern[]): string[] {
  return group.flatMap((a, i) =>
    group
      .slice(i + 1)
      .filter((b) => a.provider !== b.provider && a.labels.every((label, at) => fitOne(label, b.labels[at] ?? '')))
      .map(
        (b) =>
          `${b.provider} ${b.path}: '${b.pattern}' and '${a.pattern}' of ${a.provider} match the same hosts equally well`,
      ),
  );
}

/** Whether some text matches both, where `*` matches any text. */
function fitOne(a: string, b: string): boolean {
  const failed = new Set<number>();
  const fit = (i: number, j: number): boolean => {
    if (i === a.length && j === b.length) return true;
    const at = i * (b.length + 1) + j;
    if (failed.has(at)) return false;
    const isFit =
      (a[i] === '*' && (fit(i + 1, j) || (j < b.length && fit(i, j + 1)))) ||
      (b[j] === '*' && (fit(i, j + 1) || (i < a.length && fit(i + 1, j)))) ||
      (i < a.length && a[i] === b[j] && fit(i + 1, j + 1));
    if (!isFit) failed.add(at);
    return isFit;
  };
  return fit(0, 0);
}

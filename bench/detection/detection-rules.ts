// A rulebook many times its size: each provider again and again, with hosts, names and numbers of its own.
type Json = Readonly<Record<string, unknown>>;

/** The entries, and each of them again until there are `times` as many rules. */
export function multiplied(entries: readonly unknown[], times: number): unknown[] {
  const copies = Array.from({ length: times - 1 }, (_, n) =>
    entries.map((entry, i) => copyOf(entry as Json, `z${n}`, 4_200_000_000 + n * 1_000_000 + i * 100)),
  );
  return [...entries, ...copies.flat()];
}

function copyOf({ id, name, website, rules }: Json, mark: string, firstAsn: number): Json {
  let asn = firstAsn;
  return {
    id: `${mark}-${id}`,
    name: `${mark} ${name}`.slice(0, 64),
    website,
    rules: (rules as readonly Json[]).map((group) =>
      Object.fromEntries(
        Object.entries(group).map(([key, value]) => [
          key,
          Array.isArray(value) ? value.map(each(key)) : within(key, value),
        ]),
      ),
    ),
  };

  function each(key: string) {
    return (pattern: unknown): unknown => {
      if (typeof pattern === 'number') return asn++;
      if (typeof pattern === 'string') return marked(key, pattern);
      return within(key, pattern);
    };
  }

  /** `{ name, value }` of a header, `{ label, target }` of a name, the lists of a page. */
  function within(key: string, value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([part, each]) => {
        if (Array.isArray(each))
          return [part, each.map((one) => (typeof one === 'string' ? marked(part, one) : within(part, one)))];
        const isKept = key === 'named' ? part === 'label' : part === 'version' || (part === 'name' && 'value' in value);
        return [part, isKept ? each : marked(part, String(each))];
      }),
    );
  }

  function marked(kind: string, pattern: string): string {
    const isHost = ['ns', 'soa', 'mx', 'spf', 'dmarc', 'caa', 'cname', 'target', 'asset'].includes(kind);
    if (!isHost) return `${mark}-${pattern}`.slice(0, 128);
    if (pattern.startsWith('/')) return `/${mark}${pattern.slice(1)}`;
    // The registrable label changes, so that the tries grow as with other companies' hosts.
    const [host = '', ...path] = pattern.split('/');
    const labels = host.split('.');
    const at = Math.max(0, labels.length - 2);
    labels[at] = `${mark}${labels[at]}`;
    return [labels.join('.'), ...path].join('/');
  }
}

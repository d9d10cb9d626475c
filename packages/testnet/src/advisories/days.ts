// The news of a day: new vulnerabilities of software in use, completed analyses, exploits.
import { type Random, randomFor } from '../random.ts';
import { ghsaId, type VulnerabilityFacts } from './facts.ts';
import type { Library } from './library.ts';
import { of } from './software.ts';

/** Ids of a year in the far future, `CVE-2999-10001` and on. */
const FIRST_NUMBER = 10_000;

/** Products in use, with the branches that a new weakness may affect; the last number is the fixed version. */
const IN_USE: readonly {
  readonly name: string;
  readonly weight: number;
  readonly ranges: (r: Random) => string;
}[] = [
  { name: 'nginx', weight: 5, ranges: (r) => `1.${r.between(10, 18)}.0 <1.${r.between(20, 27)}.${r.between(1, 4)}` },
  { name: 'apache', weight: 5, ranges: (r) => `2.4.${r.between(0, 40)} <=2.4.${r.between(45, 62)}` },
  { name: 'php', weight: 5, ranges: (r) => `8.${r.between(0, 4)}.0 <8.4.${r.between(2, 20)}` },
  { name: 'wordpress', weight: 5, ranges: (r) => `5.${r.between(0, 9)} <6.${r.between(2, 8)}.${r.between(1, 3)}` },
  { name: 'ghost', weight: 2, ranges: (r) => `4.${r.between(0, 48)}.0 <5.${r.between(20, 90)}.${r.between(0, 3)}` },
  { name: 'drupal', weight: 2, ranges: (r) => `10.${r.between(0, 2)}.0 <10.3.${r.between(1, 12)}` },
  { name: 'next', weight: 2, ranges: (r) => `13.${r.between(0, 5)}.0 <15.${r.between(0, 4)}.${r.between(1, 7)}` },
  { name: 'openssl', weight: 1, ranges: (r) => `3.0.0 <3.0.${r.between(8, 18)}` },
  { name: 'liteSpeed', weight: 1, ranges: (r) => `6.0 <6.${r.between(1, 3)}.${r.between(1, 9)}` },
];

const WEAKNESSES = [
  { title: 'Memory written past its end', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', weight: 1 },
  { title: 'Work without end on short requests', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H', weight: 3 },
  { title: 'Cross-site scripting in pages', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', weight: 3 },
  { title: 'Files read by path', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', weight: 2 },
  { title: 'Rights checked too late', vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:L/I:L/A:N', weight: 2 },
] as const;

/** Advances the library by a day. */
export function passDay(library: Library, seed: string): void {
  library.nextDay();
  const r = randomFor(seed, 'advisories', library.day);
  const made = library
    .entries()
    .filter(({ facts }) => facts.id.startsWith('CVE-2999-'))
    .map(({ facts }) => facts);
  const changes = new Map<string, VulnerabilityFacts>();
  for (let i = r.between(0, 2); i > 0; i -= 1) {
    const facts = inventedBy(r, FIRST_NUMBER + made.length + changes.size + 1, library.now());
    changes.set(facts.id, facts);
  }
  const awaited = made.filter(({ nvd }) => nvd === 'awaiting');
  if (awaited.length > 0 && r.chance(0.4)) {
    const { nvd: _, ...analysed } = r.pick(awaited);
    changes.set(analysed.id, analysed);
  } else if (made.length > 0 && r.chance(0.15)) {
    const old = r.pick(made);
    changes.set(old.id, { ...old, title: `${old.title.replace(/ \(again\)$/, '')} (again)` });
  }
  const quiet = made.filter(({ id, kev }) => kev === undefined && !changes.has(id));
  if (quiet.length > 0 && r.chance(0.1)) {
    const { id } = r.pick(quiet);
    changes.set(id, exploited(library.known(id), library.now()));
  }
  library.put([...changes.values()]);
}

/** The same record, on CISA's list from today. */
export function exploited(facts: VulnerabilityFacts, now: Date): VulnerabilityFacts {
  const epss = Math.max(facts.epss ?? 0, 0.6);
  return { ...facts, kev: facts.kev ?? now.toISOString().slice(0, 10), epss };
}

function inventedBy(r: Random, number: number, now: Date): VulnerabilityFacts {
  const { name, ranges } = r.weighted(IN_USE);
  const { title, vector } = r.weighted(WEAKNESSES);
  const product = of(name, ranges(r));
  return {
    id: `CVE-2999-${number}`,
    ...(product.package ? { ghsa: ghsaId(r) } : {}),
    title,
    vector,
    published: now.toISOString(),
    affected: [product],
    ...(r.chance(0.5) ? { nvd: 'awaiting' as const } : {}),
    epss: Math.round(r.next() ** 8 * 1e5) / 1e5,
  };
}

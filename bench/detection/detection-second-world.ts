// Detection on the second world, which was described by public documents alone: precision and recall by role, and calibration.
import { entries } from '@strata/catalog';
import { compileRulebook, detect, idleLabels, loadCatalog, ROLE_LIST, type Rulebook } from '@strata/detect';
import { createProber } from '@strata/scan';
import { type Figure, setting, thousands, timed } from '../measure.ts';
import { calibrationFigures, calibrationOf, writeCalibration } from './detection-calibration.ts';
import { type ClaimScore, type Mistake, Score, type ServiceScore } from './second-world/score.ts';
import { serveWorld } from './second-world/servers.ts';
import { loadServices, ROLE_OF, WORLD_ROLES } from './second-world/service.ts';
import { mapVendors } from './second-world/vendors.ts';
import { createSecondWorld } from './second-world/world.ts';

const COMPANIES = 2_000;
const DOMAINS = setting('DOMAINS', COMPANIES);
const SEED = 'second world';
const CONCURRENCY = 24;
const SHOWN_MISTAKES = setting('MISTAKES', 12);

export async function benchSecondWorld(): Promise<Figure[]> {
  const rulebook = compileRulebook(loadCatalog(entries));
  const services = loadServices();
  const vendors = mapVendors(rulebook, services);
  const score = new Score(vendors);
  const { seconds } = await timed(() => probeAll(rulebook, score));
  const calibration = calibrationOf(score.judged, SEED);
  // A shortened run is not what the page shows.
  if (DOMAINS === COMPANIES) await writeCalibration(calibration, { companies: DOMAINS, rulebook: rulebook.version });
  const unknown = services.filter(({ vendor }) => vendors.idsOf(vendor).size === 0);
  const claims = sum([...score.claims.values()], NO_CLAIMS);
  return [
    [`${thousands(DOMAINS)} companies, ${services.length} services`, `${seconds.toFixed(0)} s`, `seed \`${SEED}\``],
    ['services whose vendor the catalog does not know', `${unknown.length}`, ''],
    ['**all roles**', `${precision(claims)}, ${recall(sum([...score.services.values()], NO_SERVICES))}`, ''],
    [
      'precision with claims of left services as wrong',
      percent(claims.right, claims.right + claims.wrong + claims.stale),
      '',
    ],
    ...ROLE_LIST.map((role): Figure => {
      const ofRole = WORLD_ROLES.filter((each) => ROLE_OF[each] === role);
      const scores = ofRole.map((each) => score.services.get(each) ?? NO_SERVICES);
      const text = `${precision(score.claims.get(role) ?? NO_CLAIMS)}, ${recall(sum(scores, NO_SERVICES))}`;
      const finer = ofRole.map((each, i) => `\`${each}\` ${details(scores[i] ?? NO_SERVICES)}`);
      return [`\`${role}\``, text, finer.join('; ')];
    }),
    ['states read as another', `${score.states.length}`, commonest(score.states, 3)],
    ...calibrationFigures(calibration),
    ...mistakeFigures('wrong', score.wrong),
    ...mistakeFigures('missed', score.missed),
  ];
}

async function probeAll(rulebook: Rulebook, score: Score): Promise<void> {
  const world = createSecondWorld({ seed: SEED, companies: DOMAINS });
  await using servers = await serveWorld(world);
  await using prober = createProber({
    probeLabels: rulebook.probeLabels,
    idleAfter: (mx) => idleLabels(mx, rulebook),
    resolver: { upstreams: [servers.resolver], tryTimeoutMs: 5_000 },
    // Patient enough for a busy machine: what is measured is detection.
    requestTimeoutMs: 20_000,
    visitTimeoutMs: 30_000,
    perAddress: CONCURRENCY,
    userAgent: 'StrataBot/bench',
    dial: servers.dial,
    trustedCa: [servers.caPem],
  });
  const queue = [...world.companies];
  const worker = async () => {
    for (let company = queue.pop(); company; company = queue.pop())
      score.add(company, detect(await prober.probe(company.domain), rulebook));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

const NO_CLAIMS: ClaimScore = { right: 0, wrong: 0, stale: 0, entailed: 0 };
const NO_SERVICES: ServiceScore = { visible: 0, found: 0, invisible: 0, guessed: 0, left: 0 };

function sum<T extends object>(scores: readonly T[], none: T): T {
  const keys = Object.keys(none) as (keyof T)[];
  const total = (key: keyof T) => scores.reduce((before, each) => before + Number(each[key]), 0);
  // Every field is a count.
  return Object.fromEntries(keys.map((key) => [key, total(key)])) as T;
}

const precision = ({ right, wrong, stale, entailed }: ClaimScore) =>
  `precision ${percent(right, right + wrong)} of ${thousands(right + wrong)} (${entailed} entailed, ${stale} left)`;

const recall = ({ found, visible }: ServiceScore) => `recall ${percent(found, visible)} of ${thousands(visible)}`;

const details = (score: ServiceScore) =>
  `${recall(score)}, ${score.guessed} of ${score.invisible} invisible, ${score.left} left`;

const percent = (part: number, all: number) => (all === 0 ? '–' : `${((part / all) * 100).toFixed(1)} %`);

function mistakeFigures(kind: string, mistakes: readonly Mistake[]): Figure[] {
  const byWhat = [...Map.groupBy(mistakes, ({ what }) => what)].sort(([, a], [, b]) => b.length - a.length);
  return byWhat
    .slice(0, SHOWN_MISTAKES)
    .map(([what, each]): Figure => [`${kind}: ${what}`, `${each.length}`, each[0]?.domain ?? '']);
}

function commonest(mistakes: readonly Mistake[], count: number): string {
  return mistakes
    .slice(0, count)
    .map(({ what, domain }) => `${domain}: ${what}`)
    .join('; ');
}

// docs/detection.md, catalog.md and posture.md have the tables of the code, every field of the format, and an entry that loads.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { exampleProblems } from './examples.ts';
import { setCategoryOf } from './fingerprints/read/categories.ts';
import { Technology, UNSEEN_FIELDS } from './fingerprints/read/technology.ts';
import { FAMILY_OF, STRENGTHS } from './match/strengths.ts';
import { FACTORS } from './posture/posture-type.ts';
import { ISSUES } from './posture/score/issues.ts';
import { SCORE_VERSION } from './posture/score/score.ts';
import type { Provider } from './rulebook/catalog.ts';
import { KINDS } from './rulebook/kinds.ts';
import { loadCatalog } from './rulebook/load-catalog.ts';
import { compileRulebook } from './rulebook/rulebook.ts';
import { best, postureOf } from './test/best-posture.ts';

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
const detection = read('detection');
const posture = read('posture');

it('docs/detection.md has the strengths of the code', () => {
  const rows = [...detection.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| ([a-z]+) \| ([\d.]+) \|([^|]*)\|$/gm)];
  const documented = rows.map(([, channel = '', family, any, roles = '']) => {
    const strengths = [...roles.matchAll(/([a-z]+) ([\d.]+)/g)].map(([, role, strength]) => [role, Number(strength)]);
    return [channel, { family, any: Number(any), roles: Object.fromEntries(strengths) }] as const;
  });
  const coded = Object.entries(STRENGTHS).map(([channel, { any, roles }]) => {
    return [channel, { family: FAMILY_OF[channel as keyof typeof FAMILY_OF], any, roles: { ...roles } }] as const;
  });
  assert.deepEqual(Object.fromEntries(documented), Object.fromEntries(coded));
});
it('docs/catalog.md shows an entry that loads, and whose examples hold', () => {
  const [, entry = ''] = /```json\n(\{[\s\S]*?\n\})\n```/.exec(read('catalog')) ?? [];
  const providers = loadCatalog([JSON.parse(entry)]);
  assert.deepEqual(exampleProblems(providers, compileRulebook(providers)), []);
  const [{ rules: [group] = [] } = {}] = providers;
  const swapped = {
    ...providers[0],
    rules: [{ ...group, counterexamples: group?.examples, examples: group?.counterexamples }],
  };
  assert.deepEqual(exampleProblems([swapped as Provider], compileRulebook(providers)), [
    'example-mail rules.0.examples.0: shows nothing, not email of example-mail; the record lacks what shows it',
    'example-mail rules.0.counterexamples.0: shows email of example-mail',
  ]);
});

const [, section = ''] = /\n## Community sets\n([\s\S]*?)\n## /.exec(detection) ?? [];
const PASSED_OVER = ['cats', 'website', 'cpe'];
/** One above the last public id. */
const IDS = Array.from({ length: 113 }, (_, id) => id);
it('docs/detection.md on community sets names the categories that are not web_platform, of all that are public', () => {
  const coded = IDS.flatMap((id) => setCategoryOf(id, new Map()) ?? []);
  assert.equal(coded.length, 109);
  for (const { kinds } of coded) for (const kind of kinds) assert.ok(KINDS.includes(kind), kind);
  const byCategory = Map.groupBy(coded, ({ category }) => category);
  byCategory.delete('web_platform');
  const named = Object.fromEntries([...byCategory].map(([category, each]) => [category, each.map(({ name }) => name)]));
  assert.deepEqual(named, { cdn: ['CDN'], hosting: ['PaaS', 'IaaS', 'Hosting'] });
  const text = section.replaceAll(/\s+/g, ' ');
  assert.ok(text.includes('CDN counts as `cdn`, and PaaS, IaaS and Hosting as `hosting`; the rest as `web_platform`'));
});
it('docs/detection.md on community sets names every field of the format', () => {
  const fields = new Set([...Object.keys(Technology.shape), ...UNSEEN_FIELDS]).difference(new Set(PASSED_OVER));
  for (const field of fields) assert.ok(section.includes(`\`${field}\``), field);
});
it('docs/posture.md has the version of the score, and the weights of the code, with mail and without', () => {
  assert.ok(posture.includes(`## The security score, version ${SCORE_VERSION}\n`));
  const rows = [...posture.matchAll(/^\| `([a-z_]+)` \| (\d+) \|(?: (\d+))? \| [^|]+ \|$/gm)];
  const documented = rows.map(([, factor, ...weights]) => [factor, ...weights.map((each) => each && Number(each))]);
  const bimi = ['v=BIMI1; l=https://example.com/logo.svg'];
  const weights = (mx: readonly string[]) =>
    new Map(postureOf({ ...best, bimi, mx }).factors.map(({ factor, weight }) => [factor, weight]));
  const [withMail, withoutMail] = [weights(['10 mx.example.com']), weights(['0 '])];
  const coded = FACTORS.map((factor) => [factor, withMail.get(factor), withoutMail.get(factor)]);
  assert.deepEqual(documented, coded);
});
it('docs/posture.md has every issue and what it costs', () => {
  const costs = posture.matchAll(/`([a-z_]+\.[a-z-]+)`(?: (\d+)|,| \|)/g);
  const documented = [...costs].map(([, id = '', cost = Infinity]) => [id, Number(cost)] as const);
  const coded = Object.entries(ISSUES).map(([id, { cost }]) => [id, cost] as const);
  assert.deepEqual(new Map(documented), new Map(coded));
  assert.equal(documented.length, coded.length);
});

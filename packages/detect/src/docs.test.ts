// docs/detection.md and docs/posture.md have the tables of the code, every field of the format, and an entry that loads.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setCategoryOf } from './fingerprints/categories.ts';
import { Technology, UNSEEN_FIELDS } from './fingerprints/technology.ts';
import { ISSUES } from './issues.ts';
import { KINDS } from './kinds.ts';
import { loadCatalog } from './load-catalog.ts';
import { assessPosture } from './posture.ts';
import { FACTORS } from './posture-type.ts';
import { SCORE_VERSION } from './score.ts';
import { FAMILY_OF, STRENGTHS } from './strengths.ts';
import { best } from './test/best-posture.ts';
import { evidenceOf } from './test/evidence-of.ts';

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
const detection = read('detection');
const posture = read('posture');

describe('docs/detection.md', () => {
  it('has the strengths of the code', () => {
    const rows = [...detection.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| ([a-z]+) \| ([\d.]+) \|([^|]*)\|$/gm)];
    const documented = Object.fromEntries(
      rows.map(([, channel = '', family, any, roles = '']) => [
        channel,
        { family, any: Number(any), roles: rolesOf(roles) },
      ]),
    );
    const coded = Object.fromEntries(
      Object.entries(STRENGTHS).map(([channel, { any, roles }]) => [
        channel,
        { family: FAMILY_OF[channel as keyof typeof FAMILY_OF], any, roles: { ...roles } },
      ]),
    );
    assert.deepEqual(documented, coded);
  });

  it('shows an entry that loads', () => {
    const [, entry = ''] = /```json\n(\{[\s\S]*?\n\})\n```/.exec(detection) ?? [];
    assert.equal(loadCatalog([JSON.parse(entry)])[0]?.id, 'fastmail');
  });
});

describe('docs/detection.md on community sets', () => {
  const [, section = ''] = /\n## Community sets\n([\s\S]*?)\n## /.exec(detection) ?? [];
  /** One above the last public id. */
  const IDS = Array.from({ length: 113 }, (_, id) => id);

  it('has the categories of the code, and all that are public', () => {
    const rows = [...section.matchAll(/^\| ([^|]+) \| `([a-z_]+)` \| ([^|]+) \|$/gm)];
    const documented = rows.flatMap(([, kinds = '', category = '', names = '']) =>
      names
        .split('; ')
        .map((name) => [name, { category, kinds: [...kinds.matchAll(/`([a-z-]+)`/g)].map(([, kind]) => kind) }]),
    );
    const coded = IDS.flatMap((id) => setCategoryOf(id, new Map()) ?? []);
    assert.equal(coded.length, 109);
    assert.deepEqual(
      Object.fromEntries(documented),
      Object.fromEntries(coded.map(({ name, category, kinds }) => [name, { category, kinds }])),
    );
    for (const { kinds } of coded) for (const kind of kinds) assert.ok(KINDS.includes(kind), kind);
  });

  it('names every field of the format', () => {
    const passedOver = ['cats', 'website', 'cpe'];
    for (const field of [...Object.keys(Technology.shape), ...UNSEEN_FIELDS]) {
      if (passedOver.includes(field)) continue;
      assert.ok(section.includes(`\`${field}\``), field);
    }
  });
});

describe('docs/posture.md', () => {
  it('names the version of the score', () =>
    assert.ok(posture.includes(`## The security score, version ${SCORE_VERSION}\n`)));

  it('has the weights of the code, with mail and without', () => {
    const rows = [...posture.matchAll(/^\| `([a-z_]+)` \| (\d+) \|(?: (\d+))? \| [^|]+ \|$/gm)];
    const documented = rows.map(([, factor, weight, without]) => [
      factor,
      Number(weight),
      without === undefined ? null : Number(without),
    ]);
    const bimi = ['v=BIMI1; l=https://example.com/logo.svg'];
    const weights = (mx: readonly string[]) =>
      new Map(assessPosture(evidenceOf({ ...best, bimi, mx })).factors.map(({ factor, weight }) => [factor, weight]));
    const [withMail, withoutMail] = [weights(['10 mx.example.com']), weights(['0 '])];
    assert.deepEqual(
      documented,
      FACTORS.map((factor) => [factor, withMail.get(factor), withoutMail.get(factor) ?? null]),
    );
  });

  it('has every issue, what it costs and the advice', () => {
    const rows = [...posture.matchAll(/^\| `([a-z_]+\.[a-z-]+)` \| (all|\d+) \| ([^|]+) \|$/gm)];
    const documented = rows.map(([, id, cost, advice]) => [
      id,
      cost === 'all' ? Number.POSITIVE_INFINITY : Number(cost),
      advice,
    ]);
    assert.deepEqual(
      documented,
      Object.entries(ISSUES).map(([id, { cost, advice }]) => [id, cost, advice]),
    );
  });
});

function rolesOf(cell: string): Record<string, number> {
  return Object.fromEntries(
    [...cell.matchAll(/([a-z]+) ([\d.]+)/g)].map(([, role = '', strength]) => [role, Number(strength)]),
  );
}

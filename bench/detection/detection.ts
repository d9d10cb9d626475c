// Evidence to profile: how right it is on thousands of simulated companies, and how fast with the rulebook and ten times it.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { entries } from '@strata/catalog';
import { compileRulebook, type Evidence, loadCatalog, type Rulebook } from '@strata/detect';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { near, startInternet } from '../internet.ts';
import { type Figure, perSecond, setting, startChild, thousands, timed } from '../measure.ts';
import {
  commonMistakes,
  type MeasureOptions,
  measureQuality,
  precision,
  type Quality,
  recall,
  type Score,
} from './detection-quality.ts';
import type { DetectionSpeed } from './detection-speed-process.ts';

const DOMAINS = setting('DOMAINS', 10_000);
/** With faults most of a probe is waiting. */
const CONCURRENCY = { off: 64, on: 400 } as const;
const SPEED_EVIDENCE = 500;
const SHOWN_MISTAKES = 10;
const GOALS = { high: '99.5 %', medium: '95 %', low: '80 %' } as const;

export async function benchDetection(): Promise<Figure[]> {
  const { value: rulebook, seconds } = await timed(() => compileRulebook(loadCatalog(entries)));
  const evidence: Evidence[] = [];
  const off = await figuresWith('off', rulebook, (each, truth) => {
    if (truth.state === 'active' && evidence.length < SPEED_EVIDENCE) evidence.push(each);
  });
  return [
    ...off,
    ...(await figuresWith('on', rulebook)),
    ...(await speedFigures(evidence)),
    ['validate and compile the rulebook', `${(seconds * 1_000).toFixed(0)} ms`, 'once, at start'],
  ];
}

async function figuresWith(
  faults: 'on' | 'off',
  rulebook: Rulebook,
  onEvidence?: MeasureOptions['onEvidence'],
): Promise<Figure[]> {
  const options = { domains: DOMAINS, hasFaults: faults === 'on', feeds: 0, hasTruths: true };
  await using internet = await startInternet(options);
  const { value: quality, seconds } = await timed(() =>
    measureQuality({ ...internet.ready, dial: near(internet.ready).dial }, rulebook, {
      concurrency: CONCURRENCY[faults],
      ...(onEvidence ? { onEvidence } : {}),
    }),
  );
  const probed = `**faults ${faults}**: ${thousands(quality.companies)} companies probed`;
  return [[probed, perSecond(quality.companies / seconds)], ...qualityFigures(quality)];
}

function qualityFigures(quality: Quality): Figure[] {
  const { all, byCategory, byLevel, wrongStates } = quality;
  return [
    ['all claims', scoreText(all), 'goal 99 % and 97 %'],
    ...[...byCategory].map(([name, score]): Figure => [`\`${name}\``, scoreText(score)]),
    ...Object.entries(GOALS).map(([level, goal]): Figure => {
      const { claims, right } = byLevel.get(level) ?? { claims: 0, right: 0 };
      return [`confidence \`${level}\``, `${percent(right / claims)} right of ${claims}`, `goal ${goal}`];
    }),
    ['states read as another', String(wrongStates.length), wrongStates[0] ?? ''],
    ...commonMistakes(quality, SHOWN_MISTAKES).map(({ what, count, example }): Figure => [what, `${count}`, example]),
  ];
}

const scoreText = (score: Score) =>
  `precision ${percent(precision(score))} of ${score.right + score.wrong}, recall ${percent(recall(score))} of ${score.visible}`;

const percent = (share: number) => (Number.isNaN(share) ? '–' : `${(share * 100).toFixed(2)} %`);

/** Domains a second, beside reading the same evidence from its JSON, the limit that no detection can pass. */
async function speedFigures(evidence: readonly Evidence[]): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const file = path.join(directory.path, 'evidence.jsonl');
  await writeFile(file, evidence.map((each) => JSON.stringify(each)).join('\n'));
  const speeds = new URL('./detection-speed-process.ts', import.meta.url);
  await using child = await startChild<DetectionSpeed>(speeds, { file });
  const { rate, manyRate, slowdown, ofParse } = child.ready;
  return [
    ['detect', perSecond(rate), `goal 20,000/s a core; ${ofParse.toFixed(2)} of JSON.parse of the same evidence`],
    ['detect with ten times the rules', perSecond(manyRate), `${slowdown.toFixed(2)} × the time; goal: within 2 ×`],
  ];
}

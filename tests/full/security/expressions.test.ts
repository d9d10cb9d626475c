// Regular expressions on untrusted input (ReDoS): each is run on long adversarial texts, and ends. Those that would
// not are in vectors/bounded-expressions.json, with what bounds the text that they are given.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { attacksOn, type Expression, expressionsIn, expressionsOfTheCode } from '../../support/expressions.ts';
import { vectorsIn } from '../../support/vectors.ts';

/** Processor time that grows with the square of such a length is seconds; time that grows with it, a millisecond. */
const LENGTH = 100_000;
const LIMIT_MS = 500;
/** An expression that has not ended by then does not end. */
const TIMEOUT_MS = 60_000;

/** Slow on long texts, and never given one. */
const listed = vectorsIn<{ file: string; why: string; expressions: string[] }[]>('bounded-expressions.json');
const bounded = new Set(listed.flatMap(({ file, expressions }) => expressions.map((source) => `${file}: ${source}`)));
const nameOf = ({ file, source }: Expression) => `${file}: ${source}`;

/** The first that takes too long, or undefined. */
function firstSlow(expressions: readonly Expression[], timeoutMs = TIMEOUT_MS): Promise<Expression | undefined> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('../../support/expressions-worker.ts', import.meta.url), {
      workerData: { expressions, length: LENGTH, limitMs: LIMIT_MS },
    });
    let timer: NodeJS.Timeout | undefined;
    const end = (index: number) => {
      resolve(expressions[index]);
      void worker.terminate();
    };
    worker.on('message', ({ index, isSlow }: { readonly index: number; readonly isSlow: boolean }) => {
      clearTimeout(timer);
      if (isSlow) end(index);
      else timer = setTimeout(end, timeoutMs, index);
    });
    worker.once('error', reject);
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

describe('regular expressions', { timeout: 600_000 }, () => {
  const all = expressionsOfTheCode();
  const unbounded = all.filter((each) => !bounded.has(nameOf(each)));
  const unique = [...new Map(unbounded.map((each) => [`/${each.source}/${each.flags}`, each])).values()];

  it('are found in the code unchanged', () => {
    assert.ok(all.length > 500, `${all.length}`);
    const text = [
      "const a = /x+/g.test('/no/'); // /no/",
      `const b = 1 / 2 / c; /* /no/ */ const c = \`/no/\${ /y[/]z/u.exec(d) }/no/\`;`,
      "return /\\/'/;",
    ].join('\n');
    const found = expressionsIn(text).map(({ source, flags }) => `${source} ${flags}`);
    assert.deepEqual(found, ['x+ g', 'y[/]z u', "\\/' "]);
  });

  it('end on long texts that are made against them', async () => assert.deepEqual(await firstSlow(unique), undefined));

  it('that would not are noticed: the exponential and the quadratic', async () => {
    for (const source of ['^(a+)+$', '^(?:\\w|\\d)*$', '\\s+$', '<!--[^]*?-->', '(\\d+)+,'])
      assert.ok(await firstSlow([{ file: '', source, flags: '' }], 1_500), source);
    assert.ok(attacksOn({ source: '<!--[^]*?-->', flags: '' }, 100).some((attack) => attack.startsWith('<!--<!--')));
  });

  it('that are excepted are still there', () =>
    assert.deepEqual([...bounded.difference(new Set(all.map(nameOf)))], []));
});

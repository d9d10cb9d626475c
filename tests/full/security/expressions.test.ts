// Regular expressions on untrusted input (ReDoS): each is run on long adversarial texts, and ends. Those that would
// not are named here, with what bounds the text that they are given.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { attacksOn, type Expression, expressionsIn, expressionsOfTheCode } from '../../support/expressions.ts';

/** Processor time that grows with the square of such a length is seconds; time that grows with it, a millisecond. */
const LENGTH = 100_000;
const LIMIT_MS = 500;
/** An expression that has not ended by then does not end. */
const TIMEOUT_MS = 60_000;

/** Slow on long texts, and never given one. */
const BOUNDED: readonly (readonly [file: string, why: string, ...expressions: string[]])[] = [
  [
    ...(['packages/advisories/src/versions/distribution.ts', 'a version is of MAX_VERSION_LENGTH at most'] as const),
    ...[
      '[-+~. ]?\\d*ubuntu|[-+~](?:trusty|xenial|bionic|focal|jammy|noble)',
      '[-+~. ]?\\d*raspbian|\\+rpi\\d|\\+rpt\\d',
    ],
    ...['\\.el\\d+[a-z0-9_.+]*\\.centos', '[+~](?:dfsg|ds).*$'],
  ],
  [
    ...(['packages/detect/src/spf/macro.ts', 'the last label alone, of at most 253 characters'] as const),
    '\\.(?:[a-z0-9]*[a-z][a-z0-9]*|[a-z0-9]+-[a-z0-9-]*[a-z0-9])\\.?$',
  ],
  ['packages/receipts/src/encoding/strict-json.ts', 'a number has at most MAX_NUMBER_LENGTH characters', '0+$'],
  [
    ...([
      'services/stack/src/feeds/subscriptions.ts',
      'a line has at most MAX_LINE characters, or is not shown',
    ] as const),
    ...['^(\\s*(?:feed:)?(?:[a-z][a-z0-9+.-]*:)?)([/\\\\]*)[^/\\\\?#]*@', '\\s+#'],
  ],
  ['web/src/chat/markdown/markdown-bounds.ts', 'what opens a line: at most nine digits in a row', '>|[-+*]|\\d+[.)]'],
  [
    'web/src/chat/markdown/markdown-bounds.ts',
    'the first 1,800 characters of an answer',
    '\\[([^\\]\\n]*)\\]\\([^)\\n]*\\)',
  ],
  ['packages/client/src/stack/stack-request.ts', 'a path of our own', '\\{([^}]+)\\}'],
  ['packages/p2p/src/start-peer-node.ts', "Node's words on an operator's address", 'listen (E[A-Z]+): .*?(\\S+:\\d+)$'],
  ['services/cli/src/commands/scan/domain-list.ts', 'one line of a list that the operator gave', '(?:^|\\s)#.*$'],
  ['packages/http/src/environment.ts', 'a setting of the operator', '\\/+$'],
  ['packages/engine/src/model-store/hub.ts', 'a setting of the operator', '\\/+$'],
  ['packages/engine/src/upstream/upstream.ts', 'a setting of the operator', '\\/+$'],
  ['packages/client/src/inference/inference-client.ts', 'the address that the caller gave', '\\/+$'],
  [
    'packages/detect/src/fingerprints/compile/known-providers.ts',
    "the website of an entry in the operator's file",
    '\\/+$',
  ],
  ['services/cli/src/service-address.ts', 'an address that the operator gave', '\\/+$'],
  ['web/src/chat/asking/parameters.ts', 'what the reader types', '^[-+]?(?:\\d+\\.?\\d*|\\.\\d+)$'],
];

const bounded = new Set(BOUNDED.flatMap(([file, , ...sources]) => sources.map((source) => `${file}: ${source}`)));
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
    assert.deepEqual(expressionsIn(text), [
      { source: 'x+', flags: 'g' },
      { source: 'y[/]z', flags: 'u' },
      { source: "\\/'", flags: '' },
    ]);
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

// Answers of aliases over real sockets, with scripted upstreams.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { casesOf, freePort } from '../../../../../tests/support/index.ts';
import {
  begin,
  events,
  HELLO,
  refuses,
  type Script,
  says,
  startScripted,
  streams,
} from '../../../../../tests/support/scripted-upstream.ts';
import { tinyEngine } from '../../../../../tests/support/tiny-engine.ts';
import { type Answer, type Harness, type Json, MODEL, startHarness } from '../../test/harness.ts';
import { chunksOf, MESSAGES as messages } from '../../test/shared.ts';
import { FAULT_REASONS } from './fault.ts';

const CHAT = '/v1/chat/completions';
const KEY = 'sk-east-secret';
type Case = [name: string, east: string, west: string, status: number, expected: string, asked: [number, number]];
const CASES = casesOf<Case[]>('gateway', 'answers with fallbacks');
const MODELS = [...CASES.keys(), 'cut', 'wait', 'hang', 'vectors', 'own'].map((each) => `m-${each}`);

const cut =
  (...chunks: unknown[]): Script =>
  (response) =>
    void begin(response).write(events(...chunks), () => response.destroy());
type Sent = { cut: object[] } | { status: number; body: string | object; headers?: Record<string, string> };
const scriptOf = (sent: Sent) => ('cut' in sent ? cut(...sent.cut) : refuses(sent.status, sent.body, sent.headers));
const scripts = Object.entries(casesOf<Record<string, Sent>>('gateway', 'answers of upstreams'));
const SCRIPTS = new Map([...scripts.map(([name, sent]) => [name, scriptOf(sent)] as const), ['ok', streams(HELLO)]]);

describe('a name with several targets', () => {
  const stack = new AsyncDisposableStack();
  type Server = Awaited<ReturnType<typeof startScripted>>;
  let [east, west]: Server[] = [];
  const listed: object[] = [];
  let gateway: Harness;
  const ask = (model: string, more: object = {}) => gateway.post(CHAT, { model, messages, ...more });
  const script = (of: string, to: string) => {
    east?.script(SCRIPTS.get(of) ?? assert.fail(of));
    west?.script(SCRIPTS.get(to) ?? assert.fail(to));
    for (const server of [east, west]) server?.asked.splice(0);
  };
  const asked = () => [east, west].map((server) => server?.asked.length);
  const answeredBy = ({ headers }: Answer) => headers.get('x-answered-by');
  const ready = async (): Promise<Json> => (await gateway.get('/ready')).body.upstreams;

  before(async () => {
    [east, west] = [stack.use(await startScripted()), stack.use(await startScripted())];
    const page = { data: MODELS.map((id) => ({ id })) };
    for (const { pages } of [east, west])
      Object.defineProperty(pages, '/v1/models', {
        get: () => {
          listed.push(pages);
          return page;
        },
      });
    const targets = (model: string) => [`east/${model}`, { [`west/${model}`]: 1 }];
    const aliases = Object.fromEntries(MODELS.map((model) => [`a-${model}`, targets(model)]));
    const STRATA_UPSTREAMS = JSON.stringify({
      servers: {
        east: { url: east.base, key: KEY, models: MODELS },
        west: { url: west.base, models: MODELS },
        slow: { url: east.base, models: ['m-hang'], timeout: 0.1 },
        down: { url: `http://127.0.0.1:${await freePort()}/v1`, models: ['m-hang'] },
      },
      aliases: { ...aliases, hang: ['down/m-hang', 'slow/m-hang', 'west/m-hang'], own: ['east/m-own', MODEL] },
      ...{ failures: 2, on: FAULT_REASONS },
    });
    const engines = { [MODEL]: await tinyEngine() };
    gateway = stack.use(await startHarness({ STRATA_MODEL: '', STRATA_UPSTREAMS }, { engines }));
  });
  after(() => stack.disposeAsync());

  for (const [at, [name, of, to, status, expected, count]] of CASES.entries())
    it(`gets ${name}`, async () => {
      script(of, to);
      const answer = await ask(`a-m-${at}`);
      assert.deepEqual([answer.status, asked()], [status, count], answer.text);
      if (status !== 200) {
        assert.equal(answer.body.error.code ?? answer.body.error.type.replace('_error', ''), expected);
        assert.equal(answeredBy(answer), null);
        if (expected === 'overloaded') assert.equal(answer.headers.get('retry-after'), '20');
        if (status === 503) assert.match(answer.body.error.message, /: east\/m-\d+ \(failed\), west\/m-\d+ \(\w+\)\.$/);
        return;
      }
      const [upstream, attempts] = expected.split(' ');
      assert.equal(answeredBy(answer), `${upstream};model="m-${at}";attempts=${attempts}`);
      assert.deepEqual([answer.body.model, answer.body.choices[0].message.content], [`a-m-${at}`, 'Hello']);
      assert.deepEqual([answer.body.usage.prompt_tokens, answer.body.usage.completion_tokens], [7, 2]);
      const { model, answered_by } = (await gateway.get(`/v1/receipts/${answer.headers.get('x-receipt-id')}`)).body;
      assert.deepEqual([model.id, answered_by], [`a-m-${at}`, [{ upstream, model: `m-${at}` }]]);
      assert.equal(east?.asked[0]?.headers.authorization, `Bearer ${KEY}`);
    });

  it('asks each upstream once for its models, however many are configured', () => {
    // `slow` is at the same address.
    assert.deepEqual([listed.filter((each) => each === east?.pages).length, listed.length], [2, 3]);
  });

  it('streams from the target that answers, and ends with an error where that breaks off', async () => {
    script('503', 'ok');
    const streamed = await ask('a-m-cut', { stream: true });
    assert.equal(
      chunksOf(streamed)
        .map(({ choices }) => choices[0].delta.content ?? '')
        .join(''),
      'Hello',
    );
    assert.match(answeredBy(streamed) ?? '', /^west;/);
    script('503', 'ok');
    east?.script(cut(says('half')));
    const broken = await ask('a-m-cut', { stream: true });
    assert.match(broken.text, /"content":"half"[\s\S]*data: \{"error":/);
    const { usage: counted } = (await gateway.get(`/v1/receipts/${broken.headers.get('x-receipt-id')}`)).body;
    assert.deepEqual([counted.prompt_tokens > 0, counted.completion_tokens], [true, 1], 'of the prompt an estimate');
    assert.deepEqual([answeredBy(broken), asked()], ['east;model="m-cut";attempts=1', [1, 0]]);
  });

  it('leaves a target alone for the time that it asks for, and tries one that cools where there is no other', async () => {
    script('429', 'ok');
    for (const expected of ['attempts=2', 'attempts=1', 'attempts=1'])
      assert.match(answeredBy(await ask('a-m-wait')) ?? '', new RegExp(`^west;.*${expected}$`));
    assert.deepEqual(asked(), [1, 3]);
    assert.match((await ready())['east/m-wait'], /^cooling: \d+ s$/);
    script('ok', '503');
    for (const expected of ['attempts=2', 'attempts=1'])
      assert.match(answeredBy(await ask('a-m-wait')) ?? '', new RegExp(`^east;.*${expected}$`));
    assert.equal((await ready())['east/m-wait'], 'ready');
  });

  it('waits for no target longer than it is set to, and starts without one that is down', async () => {
    script('ok', 'ok');
    east?.script(() => {});
    assert.match(answeredBy(await ask('hang')) ?? '', /^west;.*attempts=3$/);
  });

  it('can fall back to a model of the gateway itself, whose receipt has its file', async () => {
    script('503', 'ok');
    const answer = await ask('own', { max_tokens: 4 });
    assert.equal(answeredBy(answer), `gateway;model="${MODEL}";attempts=2`);
    const { model } = (await gateway.get(`/v1/receipts/${answer.headers.get('x-receipt-id')}`)).body;
    assert.deepEqual([model.id, model.verified.level, model.sha256?.length], ['own', 'pinned', 64]);
  });

  it('gets vectors and completions with fallbacks too', async () => {
    script('503', 'ok');
    const completed = await gateway.post('/v1/completions', { model: 'a-m-vectors', prompt: 'x' });
    assert.match(answeredBy(completed) ?? '', /^west;.*attempts=2$/);
    west?.script(refuses(200, { data: [{ embedding: [3, 4] }], usage: { prompt_tokens: 5 } }));
    const { body, headers } = await gateway.post('/v1/embeddings', { model: 'a-m-vectors', input: 'x' });
    assert.equal(body.usage.prompt_tokens, 5);
    assert.match(headers.get('x-answered-by') ?? '', /^west;.*attempts=2$/);
  });

  it('is shared by the upstreams that list it, and counted by target', async () => {
    script('ok', 'ok');
    const both = await Promise.all(Array.from({ length: 24 }, () => ask('m-own')));
    assert.ok(both.every(({ status }) => status === 200));
    assert.deepEqual(
      asked().map((count) => count !== 0),
      [true, true],
    );
    const text = await gateway.running.gateway.monitoring.metrics.registry.metrics();
    for (const line of casesOf<string[]>('gateway', 'metrics of targets')) assert.match(text, new RegExp(line, 'm'));
    assert.doesNotMatch(text, new RegExp(KEY));
  });
});
